package tool

import (
	"strings"

	"cordon/internal/mark"
)

// atUse is at and batch: the standard input, or a file, is run later.
func atUse(c Call) Use {
	w := newWrapping(c)
	s := scanWrapAll(c.Args[1:], "-V=n -b -c=n -d=n -f=t -l=n -M -m -q=t -r=n -t=t -u=t -v")
	w.takeAll(s)
	w.later = true
	if w.none {
		w.use.Out = mark.Any
		return w.done()
	}
	if file, ok := s.value("-f"); ok && file != "-" && !isStdin(file) {
		w.touch(Read, file, "-f")
		r := w.again("-f")
		r.File = file
		w.add(r)
		return w.done()
	}
	w.input(nil)
	return w.done()
}

const personalJobs = "it changes the jobs that run for this user at all times"

// crontabUse is crontab: whatever it installs outlives the worktree.
func crontabUse(c Call) Use {
	w := newWrapping(c)
	s := scanWrapAll(c.Args[1:], "-u=t -l -r -e -i -n=n -T=N -s -V=n")
	w.takeAll(s)
	w.later = true
	w.use.Out = mark.Any
	switch {
	case w.none, s.has("-l"):
		return w.done()
	case len(s.rest) > 0 && s.rest[0] != "-" && !isStdin(s.rest[0]):
		w.touch(Read, s.rest[0], "operand")
	case c.Fed:
		r := w.again("standard input")
		r.Code = cronLines(c.Stdin)
		if r.Code != "" {
			w.add(r)
		}
	}
	w.find(Ask, personalJobs, "run the command now, or leave the job to a person")
	return w.done()
}

// cronLines takes the hours off the lines of a crontab.
func cronLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		fields := 5
		if strings.HasPrefix(line, "@") {
			fields = 1
		}
		for range fields {
			_, after, ok := strings.Cut(line, " ")
			if !ok {
				break
			}
			line = strings.TrimLeft(after, " \t")
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

const systemdRunOptions = "-p,--property=t -u,--unit=t --working-directory=d -d,--same-dir -E,--setenv=e -M,--machine=t -H,--host=t --uid=t --gid=t --nice=t --on-active=t --on-boot=t --on-startup=t --on-unit-active=t --on-unit-inactive=t --on-calendar=t --on-clock-change --on-timezone-change --path-property=t --socket-property=t --timer-property=t --slice=t --slice-inherit --description=t --service-type=t --background=t --json=t -t,--pty -P,--pipe -q,--quiet -G,--collect --user --system --scope --wait -r,--remain-after-exit --send-sighup --no-block --no-ask-password --expand-environment=t -S,--shell -C,--capsule=t --ignore-failure -h=n --help=n --version=n"

// systemdRunUse is systemd-run, whose services begin in another directory.
func systemdRunUse(c Call) Use {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], systemdRunOptions)
	w.takeAll(s)
	for _, o := range s.list {
		if o.name == "-p" {
			w.unitProperty(o.value)
		}
	}
	if w.dir == "" && !s.has("-d") && !s.has("--scope") && !s.has("-S") {
		w.dir = "/"
		if s.has("--user") {
			w.dir = ""
			w.enter("~", "the home, where services of a user run")
		}
	}
	mode := how(0)
	if s.has("-S") || s.has("-t") || s.has("-P") {
		mode = shelled
	}
	w.later = !s.has("--wait") && !s.has("--scope")
	w.command(s.rest, mode)
	return w.done()
}

// unitProperty is one -p NAME=VALUE.
func (w *wrapping) unitProperty(setting string) {
	name, value, _ := strings.Cut(setting, "=")
	value = strings.TrimLeft(value, "-+!@:")
	switch name {
	case "WorkingDirectory", "RootDirectory":
		w.enter(value, name)
	case "EnvironmentFile":
		w.touch(Read, value, name)
	case "Environment":
		w.assign(value)
	case "StandardOutput", "StandardError", "StandardInput":
		if _, file, ok := strings.Cut(value, ":"); ok && name == "StandardInput" {
			w.touch(Read, file, name)
		} else if ok {
			w.touch(Write, file, name)
		}
	case "BindPaths", "ReadWritePaths":
		src, _, _ := strings.Cut(value, ":")
		w.touch(Write, src, name)
	}
	if strings.HasPrefix(name, "Exec") {
		w.codes = append(w.codes, value)
	}
}

const startStopOptions = "-S,--start -K,--stop=n -T,--status=n -H,--help=n -V,--version=n -p,--pidfile=w -x,--exec=t -a,--startas=t -n,--name=t --pid=t --ppid=t -u,--user=t -g,--group=t -s,--signal=t -R,--retry=t -c,--chuid=t -r,--chroot=d -d,--chdir=d -N,--nicelevel=t -P,--procsched=t -I,--iosched=t -k,--umask=t -b,--background=z -C,--no-close -m,--make-pidfile --remove-pidfile --notify-await --notify-timeout=t -q,--quiet -o,--oknodo -v,--verbose -t,--test=n -O,--output=w -i,--interactive -w,--wait=t -1,--stdout=w -2,--stderr=w -e,--env=e -D"

// startStopUse is start-stop-daemon: the program is an option, its arguments are
// operands.
func startStopUse(c Call) Use {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], startStopOptions)
	w.takeAll(s)
	program, ok := s.value("-a")
	if !ok {
		program, ok = s.value("-x")
	}
	if ok && !w.none {
		w.args(append([]string{program}, s.rest...), "--exec")
	}
	return w.done()
}

// wrapDebugger is gdb and lldb: a program with its arguments, and commands of the
// debugger's own, some of which leave it.
func wrapDebugger(name string, c Call) Use {
	w := newWrapping(c)
	spec := "-args,--args -batch,--batch -ex,--ex,-eval-command,--eval-command=t -iex,--iex,-init-eval-command=t -x,-command,--command=t -ix,--init-command=t -cd,--cd=d -d,-directory,--directory=r -p,-pid,--pid=N -q,-quiet,--quiet -nx,--nx -nh -n -s,-symbols=r -e,-exec=r -se=r -c,-core,--core=r -tty,--tty=w -tui -return-child-result -b=t -l=t -D,-data-directory=r --readnow -write --silent"
	if name == "lldb" {
		spec = "-o,--one-line=t -O,--one-line-before-file=t -k,--one-line-on-crash=t -s,--source=t -S,--source-before-file=t -K=t -f,--file=r -c,--core=r -p,--attach-pid=N -n,--attach-name=N -b,--batch -x,--no-lldbinit -a,--arch=t -l,--script-language=t -d,--debug -w -X -Q"
	}
	s := scanWrap(c.Args[1:], spec)
	w.takeAll(s)
	for _, o := range s.list {
		switch o.name {
		case "-ex", "-iex", "-o", "-O", "-k":
			w.debuggerLine(o.value)
		case "-x", "-ix", "-s", "-S", "-K":
			if o.kind == 't' {
				w.touch(Read, o.value, o.name)
				w.add(Run{File: o.value, Lang: Opaque, Dir: w.dir, Why: o.name})
			}
		}
	}
	if c.Fed {
		for line := range strings.SplitSeq(c.Stdin, "\n") {
			w.debuggerLine(line)
		}
	}
	w.unsure = false
	w.none = false
	w.command(s.rest, 0)
	w.use.Out = mark.Any
	return w.done()
}

// debuggerLine is a command for a debugger.
func (w *wrapping) debuggerLine(line string) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "!") {
		line = "shell " + line[1:]
	}
	line = strings.TrimPrefix(line, "platform ")
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	r := w.again("a command of the debugger")
	switch word {
	case "shell", "she", "make":
		r.Code = rest
		if word == "make" {
			r.Code = line
		}
	case "python", "py", "pi", "python-interactive", "script":
		r.Code, r.Lang = rest, Python
	case "pipe", "|":
		_, r.Code, _ = strings.Cut(rest, "|")
	case "cd":
		w.enter(rest, "cd")
	case "source":
		w.touch(Read, rest, "source")
	case "dump", "append", "restore", "generate-core-file", "gcore", "save", "tee":
		fields := strings.Fields(rest)
		for _, f := range fields {
			if looksLikePath(f) {
				w.touch(Write, f, word)
			}
		}
	default:
		if strings.Contains(rest, "system") || strings.Contains(rest, "exec") || strings.Contains(rest, "popen") || strings.Contains(rest, "logging file") {
			r.Code, r.Lang = line, Opaque
		}
	}
	if r.Code != "" {
		w.add(r)
	}
}
