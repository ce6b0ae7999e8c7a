package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// atUse is at and batch: the standard input, or a file, is run later.
func atUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := scanAll(c.Args[1:], "at")
	w.takeAll(s)
	w.later = true
	if w.none {
		w.use.Out = mark.Any
		return w.done()
	}
	if file, ok := s.Value("-f"); ok && file != "-" && !argtext.IsStdin(file) {
		w.touch(commands.Read, file, "-f")
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
func crontabUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := scanAll(c.Args[1:], "crontab")
	w.takeAll(s)
	w.later = true
	w.use.Out = mark.Any
	switch {
	case w.none, s.Has("-l"):
		return w.done()
	case len(s.Operands) > 0 && s.Operands[0] != "-" && !argtext.IsStdin(s.Operands[0]):
		w.touch(commands.Read, s.Operands[0], "operand")
	case c.Fed:
		r := w.again("standard input")
		r.Code = cronLines(c.Stdin)
		if r.Code != "" {
			w.add(r)
		}
	}
	w.find(commands.Ask, personalJobs, "run the command now, or leave the job to a person")
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
func systemdRunUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "systemd-run")
	w.takeAll(s)
	for _, o := range s.Options {
		if o.First() == "-p" {
			w.unitProperty(o.Value)
		}
	}
	if w.dir == "" && !s.Has("-d") && !s.Has("--scope") && !s.Has("-S") {
		w.dir = "/"
		if s.Has("--user") {
			w.dir = ""
			w.enter("~", "the home, where services of a user run")
		}
	}
	mode := table.Style(0)
	if s.Has("-S") || s.Has("-t") || s.Has("-P") {
		mode = table.Shelled
	}
	w.later = !s.Has("--wait") && !s.Has("--scope")
	w.command(s.Operands, mode)
	return w.done()
}

// unitProperty is one -p NAME=VALUE.
func (w *wrapping) unitProperty(setting string) {
	name, value, _ := strings.Cut(setting, "=")
	value = strings.TrimLeft(value, "-+!@:")
	switch {
	case name == "WorkingDirectory" || name == "RootDirectory":
		w.enter(value, name)
	case name == "Environment":
		w.assign(value)
	case strings.HasPrefix(name, "Exec"):
		w.codes = append(w.codes, value)
	default: // files, perhaps with a word before them: append:/x
		for _, p := range argtext.LoosePaths(value) {
			w.touch(commands.Write, p, name)
		}
	}
}
