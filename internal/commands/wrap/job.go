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

const personalJobs = "it changes this user's scheduled jobs"

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
		for line := range strings.Lines(c.Stdin) {
			w.loosely(strings.Fields(line), false)
		}
	}
	w.find(commands.Ask, personalJobs, "run the command now, or leave the job to a person")
	return w.done()
}

// systemdRunUse is systemd-run, whose services begin in another directory.
func systemdRunUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "systemd-run")
	w.takeAll(s)
	for _, o := range s.Options {
		if o.First() == "-p" {
			w.loosely(strings.Fields(strings.ReplaceAll(o.Value, "=", " ")), false)
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
