package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// listRunner knows programs that run what is in a list, or each of their operands.
func listRunner(name string, c commands.Call) commands.Use {
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
	w.command(w.options(w.call.Args[1:], "ts"), 0)
}

// entr runs a command when one of the files it is fed changes; /_ is that file.
func (w *wrapping) entr() {
	s := Scan(w.call.Args[1:], "entr")
	w.takeAll(s)
	item := mark.Any
	if w.call.Fed {
		for i, file := range argtext.Lines(w.call.Stdin) {
			if i < argtext.MaxLoose && !mark.Has(file, mark.Any) {
				w.touch(commands.Read, file, "standard input")
			}
		}
		first, rest, _ := strings.Cut(w.call.Stdin, "\n")
		item = first
		if strings.TrimSpace(rest) != "" && !mark.In(first) {
			item = mark.Any
		}
	}
	words := make([]string, len(s.Operands))
	for i, word := range s.Operands {
		words[i] = word
		if word == "/_" {
			words[i] = item
		}
	}
	if s.Has("-s") {
		w.command(words, table.Joined)
		return
	}
	w.command(words, 0)
}

func (w *wrapping) nodemon() {
	s := Scan(w.call.Args[1:], "nodemon")
	w.takeAll(s)
	w.unsure = false
	line, ok := s.Value("-x")
	switch {
	case w.none:
	case ok:
		w.code(strings.Join(append([]string{line}, s.Operands...), " "), "--exec")
	case len(s.Operands) > 0:
		w.args(append([]string{"node"}, s.Operands...), "script")
	}
}

func (w *wrapping) concurrently() {
	s := scanAll(w.call.Args[1:], "concurrently")
	w.takeAll(s)
	for _, line := range s.Operands {
		if !strings.HasPrefix(line, "npm:") && !strings.HasPrefix(line, "pnpm:") && !strings.HasPrefix(line, "yarn:") && !strings.HasPrefix(line, "bun:") {
			w.code(strings.Trim(line, `"'`), "operand")
		}
	}
}

// hyperfine runs each of its operands as a line of shell, with values for the
// places in it.
func (w *wrapping) hyperfine() {
	s := scanAll(w.call.Args[1:], "hyperfine")
	w.takeAll(s)
	codes := w.codes
	w.codes = nil
	for _, o := range s.Options {
		switch {
		case o.Is("output") && o.Value != "null" && o.Value != "pipe" && o.Value != "inherit":
			w.touch(commands.Write, o.Value, o.First())
		case o.Is("input") && o.Value != "null":
			w.touch(commands.Read, o.Value, o.First())
		}
	}
	texts := append(s.Operands, codes...)
	for i, o := range s.Options {
		if !o.Is("L") || i+1 == len(s.Options) || !s.Options[i+1].Is("L") {
			continue
		}
		for _, value := range strings.Split(s.Options[i+1].Value, ",")[:min(maxCopies, 1+strings.Count(s.Options[i+1].Value, ","))] {
			for _, text := range texts[:min(len(texts), maxGroups)] {
				if filled := replaceAll(text, "{"+o.Value+"}", value); filled != text {
					texts = append(texts, filled)
				}
			}
		}
	}
	for _, text := range texts {
		w.code(text, "operand")
	}
}

// perf is perf stat, record and trace; the others only read what these wrote.
func (w *wrapping) perf() {
	rest := Scan(w.call.Args[1:], "perf").Operands
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "stat", "record", "trace", "mem", "c2c", "kmem", "lock", "sched", "kvm", "ftrace":
		s := Scan(rest[1:], "perf stat")
		w.takeAll(s)
		command := s.Operands
		if len(command) > 0 && (command[0] == "record" || command[0] == "report") {
			again := Scan(command[1:], "perf stat")
			w.takeAll(again)
			command = again.Operands
		}
		w.command(command, 0)
	default:
		w.takeAll(scanAll(rest[1:], "perf report"))
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
			w.touch(commands.Execute, program, "--shell")
		}
		if word == "--" || word == "==" || word == "-+" || word == "=+" {
			w.args(append([]string{shell}, w.call.Args[i+2:]...), "arguments of the shell")
			return
		}
	}
}

// opener is a desktop's way to open a file with whatever program is for it.
func (w *wrapping) opener() {
	s := scanAll(w.call.Args[1:], "xdg-open")
	w.takeAll(s)
	for _, word := range s.Operands {
		file, local := strings.CutPrefix(word, "file://")
		if local || !strings.Contains(word, ":") {
			w.touch(commands.Execute, file, "operand")
		}
	}
}

// otherRunner knows subcommands that fit no row.
func otherRunner(name string, c commands.Call) (commands.Use, bool) {
	w := newWrapping(c)
	s := table.ParseArgs(c.Args[1:], &table.Row{Options: table.Lookup("uv run").Global}, table.Stop|table.Wraps)
	rest := s.Operands
	switch {
	case name == "direnv" && len(rest) > 0 && (rest[0] == "allow" || rest[0] == "permit" || rest[0] == "grant" || rest[0] == "edit"):
		for _, file := range rest[1:] {
			w.touch(commands.Read, file, "operand")
		}
		return w.done(), true
	case name == "uv" && len(rest) > 1 && rest[0] == "tool" && rest[1] == "run":
		w.takeAll(s)
		w.row(table.Lookup("uvx"), rest[2:])
		return w.done(), true
	}
	return commands.Use{}, false
}
