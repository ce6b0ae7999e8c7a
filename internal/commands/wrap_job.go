package commands

import (
	"strings"

	"cordon/internal/mark"
)

// atUse is at and batch: the standard input, or a file, is run later.
func atUse(c Call) Use {
	w := newWrapping(c)
	s := scanAll(c.Args[1:], "at")
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
	s := scanAll(c.Args[1:], "crontab")
	w.takeAll(s)
	w.later = true
	w.use.Out = mark.Any
	switch {
	case w.none, s.has("-l"):
		return w.done()
	case len(s.operands) > 0 && s.operands[0] != "-" && !isStdin(s.operands[0]):
		w.touch(Read, s.operands[0], "operand")
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

// systemdRunUse is systemd-run, whose services begin in another directory.
func systemdRunUse(c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], "systemd-run")
	w.takeAll(s)
	for _, o := range s.options {
		if o.first() == "-p" {
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
	mode := style(0)
	if s.has("-S") || s.has("-t") || s.has("-P") {
		mode = shelled
	}
	w.later = !s.has("--wait") && !s.has("--scope")
	w.command(s.operands, mode)
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

// startStopUse is start-stop-daemon: the program is an option, its arguments are
// operands.
func startStopUse(c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], "start-stop-daemon")
	w.takeAll(s)
	program, ok := s.value("-a")
	if !ok {
		program, ok = s.value("-x")
	}
	if ok && !w.none {
		w.args(append([]string{program}, s.operands...), "--exec")
	}
	return w.done()
}

// wrapDebugger is gdb and lldb: a program with its arguments, and commands of the
// debugger's own, some of which leave it.
func wrapDebugger(name string, c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], name)
	w.takeAll(s)
	for _, o := range s.options {
		switch o.first() {
		case "-ex", "-iex", "-o", "-O", "-k":
			w.debuggerLine(o.value)
		case "-x", "-ix", "-s", "-S", "-K":
			if o.kind == "text" {
				w.touch(Read, o.value, o.first())
				w.add(Run{File: o.value, Lang: Opaque, Dir: w.dir, Why: o.first()})
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
	w.command(s.operands, 0)
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
