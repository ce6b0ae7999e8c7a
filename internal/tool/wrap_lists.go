package tool

import (
	"strings"

	"cordon/internal/mark"
)

// listRunner knows programs that run what is in a list, or each of their operands.
func listRunner(name string, c Call) Use {
	w := newWrapping(c)
	switch name {
	case "entr":
		w.entr()
	case "nodemon":
		w.nodemon()
	case "concurrently":
		w.concurrently()
	case "hyperfine":
		w.hyperfine()
	case "perf":
		w.perf()
	case "capsh":
		w.capsh()
	case "xdg-open", "open":
		w.opener()
	case "run-parts":
		s := scanWrapAll(c.Args[1:], "--test=n --list=n -v,--verbose --report --reverse --exit-on-error --stdin --new-session --regex=t --lsbsysinit -u,--umask=t -a,--arg=t -h,--help=n -V=n")
		for _, dir := range s.rest {
			w.touch(Execute, dir, "operand")
		}
	case "inotifywait":
		s := scanWrapAll(c.Args[1:], "-e,--event=t -o,--outfile=w --fromfile=r --exclude=t --excludei=t --include=t --includei=t --format=t --timefmt=t -t,--timeout=t -m,--monitor -r,--recursive -q,--quiet -d,--daemon -s,--syslog -c,--csv -P")
		w.takeAll(s)
		for _, place := range s.rest {
			w.touch(Read, place, "operand")
		}
		w.use.Out = mark.Any
	case "sudoedit":
		for _, file := range scanWrap(c.Args[1:], sudoOptions).rest {
			w.touch(Write, file, "operand")
		}
	case "ts":
		w.stamp()
	}
	return w.done()
}

// stamp is ts, of which there are two: one puts the time before the lines it is
// fed, the other puts a command in a queue.
func (w *wrapping) stamp() {
	if w.call.Fed {
		w.use.Out = mark.Any
		return
	}
	w.command(w.options(w.call.Args[1:], "-n -f -d -B -E -g -L=t -N=t -D=t -W=t -m -S=n -l=n -K=n -C=n -t=N -c=N -p=N -o=N -i=N -r=N -w=N -u=N -k=N -s=N"), 0)
}

// entr runs a command when one of the files it is fed changes; /_ is that file.
func (w *wrapping) entr() {
	s := scanWrap(w.call.Args[1:], "-a -c -d -n -p -r -s -x -z")
	w.takeAll(s)
	item := mark.Any
	if w.call.Fed {
		for i, file := range lines(w.call.Stdin) {
			if i < maxLoose && !mark.Has(file, mark.Any) {
				w.touch(Read, file, "standard input")
			}
		}
		first, rest, _ := strings.Cut(w.call.Stdin, "\n")
		item = first
		if strings.TrimSpace(rest) != "" && !mark.In(first) {
			item = mark.Any
		}
	}
	words := make([]string, len(s.rest))
	for i, word := range s.rest {
		words[i] = word
		if word == "/_" {
			words[i] = item
		}
	}
	if s.has("-s") {
		w.command(words, joined)
		return
	}
	w.command(words, 0)
}

func (w *wrapping) nodemon() {
	s := scanWrap(w.call.Args[1:], "-x,--exec=t -w,--watch=r -e,--ext=t -i,--ignore=t --cwd=d -d,--delay=t -s,--signal=t --config=r -L,--legacy-watch -V,--verbose -q,--quiet -C,--on-change-only -I,--no-stdin -r,--require=x --inspect=? --polling-interval=t -v,--version=n -h,--help=n --spawn --dump")
	w.takeAll(s)
	w.unsure = false
	line, ok := s.value("-x")
	switch {
	case w.none:
	case ok:
		w.code(strings.Join(append([]string{line}, s.rest...), " "), "--exec")
	case len(s.rest) > 0:
		w.args(append([]string{"node"}, s.rest...), "script")
	}
}

func (w *wrapping) concurrently() {
	s := scanWrapAll(w.call.Args[1:], "-n,--names=t --name-separator=t -c,--prefix-colors=t -p,--prefix=t -l,--prefix-length=t -t,--timestamp-format=t -s,--success=t -m,--max-processes=t -k,--kill-others --kill-others-on-fail --kill-signal=t --kill-timeout=t --restart-tries=t --restart-after=t --default-input-target=t --hide=t --teardown=c -r,--raw -g,--group -i,--handle-input --no-color -P,--passthrough-arguments --cwd=d --shell=x --timings --pad-prefix")
	w.takeAll(s)
	for _, line := range s.rest {
		if !strings.HasPrefix(line, "npm:") && !strings.HasPrefix(line, "pnpm:") && !strings.HasPrefix(line, "yarn:") && !strings.HasPrefix(line, "bun:") {
			w.code(strings.Trim(line, `"'`), "operand")
		}
	}
}

const hyperfineOptions = "-w,--warmup=t -m,--min-runs=t -M,--max-runs=t -r,--runs=t -s,--setup=c --reference=c --reference-name=t -p,--prepare=c -C,--conclude=c -c,--cleanup=c -P,--parameter-scan=3 -D,--parameter-step-size=t -L,--parameter-list=t -S,--shell=t -N -i,--ignore-failure=? --style=t --sort=t -u,--time-unit=t --export-asciidoc=w --export-csv=w --export-json=w --export-markdown=w --export-orgmode=w --show-output --output=t --input=t -n,--command-name=t --min-benchmarking-time=t -h,--help=n -V,--version=n"

// hyperfine runs each of its operands as a line of shell, with values for the
// places in it.
func (w *wrapping) hyperfine() {
	var operands []string
	var values []string
	rest := w.call.Args[1:]
	for len(rest) > 0 {
		s := scanWrap(rest, hyperfineOptions)
		for _, o := range s.list {
			switch {
			case o.name == "--output" && o.value != "null" && o.value != "pipe" && o.value != "inherit":
				w.touch(Write, o.value, o.name)
			case o.name == "--input" && o.value != "null":
				w.touch(Read, o.value, o.name)
			default:
				w.take(o)
			}
		}
		rest = s.rest
		if n := len(s.list); n > 0 && s.list[n-1].name == "-L" && len(rest) > 0 {
			values = append(values, "{"+s.list[n-1].value+"}", rest[0])
			rest = rest[1:]
			continue
		}
		if len(rest) > 0 {
			operands = append(operands, rest[0])
			rest = rest[1:]
		}
	}
	w.benchmarks(append(operands, w.codes...), values)
	w.codes = nil
}

// benchmarks runs each line with each value of its list.
func (w *wrapping) benchmarks(lines, values []string) {
	for _, line := range lines {
		set := []string{line}
		for i := 0; i+1 < len(values); i += 2 {
			set = withValues(set, values[i], strings.SplitN(values[i+1], ",", maxGroups))
		}
		for i, text := range set {
			if i == 0 || text != set[i-1] {
				w.code(text, "operand")
			}
		}
	}
}

// withValues puts each value in its place in each line, up to a bound.
func withValues(lines []string, place string, values []string) []string {
	var list []string
	for _, text := range lines {
		if !strings.Contains(text, place) {
			list = append(list, text)
			continue
		}
		for _, value := range values {
			if len(list) >= maxGroups || strings.Contains(value, ",") {
				return append(list, replaceAll(text, place, mark.Any))
			}
			list = append(list, replaceAll(text, place, value))
		}
	}
	return list
}

// perf is perf stat, record and trace; the others only read what these wrote.
func (w *wrapping) perf() {
	rest := scanWrap(w.call.Args[1:], "-v -h --exec-path=t --buildid-dir=w --debug=t --no-pager --version=n").rest
	if len(rest) == 0 {
		return
	}
	spec := "-a -A -B -b -C,--cpu=t -c,--count=t -D,--delay=t -d -e,--event=t -F,--freq=t -G,--cgroup=t -g --call-graph=t -I,--interval-print=t -i,--no-inherit --input=r -j,--branch-filter=t -k,--clockid=t -M,--metrics=t -m,--mmap-pages=t -n -o,--output=w -p,--pid=N -q -R -r,--repeat=t -S -s -T -t,--tid=N --timeout=t -u,--uid=t -v -W -x,--field-separator=t -z --pre=c --post=c --table --append --per-thread --null --filter=t --switch-output=? --overwrite --log-fd=t --aio=? --proc-map-timeout=t --control=t --duration=t --max-events=t"
	switch rest[0] {
	case "stat", "record", "trace", "mem", "c2c", "kmem", "lock", "sched", "kvm", "ftrace":
		s := scanWrap(rest[1:], spec)
		w.takeAll(s)
		command := s.rest
		if len(command) > 0 && (command[0] == "record" || command[0] == "report") {
			again := scanWrap(command[1:], spec)
			w.takeAll(again)
			command = again.rest
		}
		w.command(command, 0)
	default:
		w.takeAll(scanWrapAll(rest[1:], "-i,--input=r -o,--output=w -s,--script=x --sort=t -k,--vmlinux=r --symfs=r -F,--fields=t"))
		w.use.Out = mark.Any
	}
}

// capsh runs a shell with the words after -- or ==.
func (w *wrapping) capsh() {
	for i, word := range w.call.Args[1:] {
		if dir, ok := strings.CutPrefix(word, "--chroot="); ok {
			w.enter(dir, "--chroot")
		}
		shell := "bash"
		if program, ok := strings.CutPrefix(word, "--shell="); ok {
			w.touch(Execute, program, "--shell")
		}
		if word == "--" || word == "==" || word == "-+" || word == "=+" {
			w.args(append([]string{shell}, w.call.Args[i+2:]...), "arguments of the shell")
			return
		}
	}
}

// opener is a desktop's way to open a file with whatever program is for it.
func (w *wrapping) opener() {
	s := scanWrapAll(w.call.Args[1:], "-a=t -b=t -e -t -f -F -R -n -g -j -h -W -s=t -u=t -i=r -o=w --env=e --stdin=r --stdout=w --stderr=w --arch=t --args")
	w.takeAll(s)
	for _, word := range s.rest {
		file, local := strings.CutPrefix(word, "file://")
		if local || !strings.Contains(word, ":") {
			w.touch(Execute, file, "operand")
		}
	}
}

// otherRunner knows subcommands that fit no row.
func otherRunner(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], uvOptions)
	rest := s.rest
	switch {
	case name == "direnv" && len(rest) > 0 && (rest[0] == "allow" || rest[0] == "permit" || rest[0] == "grant" || rest[0] == "edit"):
		for _, file := range rest[1:] {
			w.touch(Read, file, "operand")
		}
		return w.done(), true
	case name == "uv" && len(rest) > 1 && rest[0] == "tool" && rest[1] == "run":
		w.takeAll(s)
		w.runner(&runner{opts: uvOptions, to: asPackage}, rest[2:])
		return w.done(), true
	}
	return Use{}, false
}
