package commands

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
		s := scanAll(c.Args[1:], name)
		for _, dir := range s.operands {
			w.touch(Execute, dir, "operand")
		}
	case "inotifywait":
		s := scanAll(c.Args[1:], name)
		w.takeAll(s)
		for _, place := range s.operands {
			w.touch(Read, place, "operand")
		}
		w.use.Out = mark.Any
	case "sudoedit":
		for _, file := range scan(c.Args[1:], "sudo").operands {
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
	w.command(w.options(w.call.Args[1:], "ts"), 0)
}

// entr runs a command when one of the files it is fed changes; /_ is that file.
func (w *wrapping) entr() {
	s := scan(w.call.Args[1:], "entr")
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
	words := make([]string, len(s.operands))
	for i, word := range s.operands {
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
	s := scan(w.call.Args[1:], "nodemon")
	w.takeAll(s)
	w.unsure = false
	line, ok := s.value("-x")
	switch {
	case w.none:
	case ok:
		w.code(strings.Join(append([]string{line}, s.operands...), " "), "--exec")
	case len(s.operands) > 0:
		w.args(append([]string{"node"}, s.operands...), "script")
	}
}

func (w *wrapping) concurrently() {
	s := scanAll(w.call.Args[1:], "concurrently")
	w.takeAll(s)
	for _, line := range s.operands {
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
	for _, o := range s.options {
		switch {
		case o.is("output") && o.value != "null" && o.value != "pipe" && o.value != "inherit":
			w.touch(Write, o.value, o.first())
		case o.is("input") && o.value != "null":
			w.touch(Read, o.value, o.first())
		}
	}
	texts := append(s.operands, codes...)
	for i, o := range s.options {
		if !o.is("L") || i+1 == len(s.options) || !s.options[i+1].is("L") {
			continue
		}
		for _, value := range strings.Split(s.options[i+1].value, ",")[:min(maxCopies, 1+strings.Count(s.options[i+1].value, ","))] {
			for _, text := range texts[:min(len(texts), maxGroups)] {
				if filled := replaceAll(text, "{"+o.value+"}", value); filled != text {
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
	rest := scan(w.call.Args[1:], "perf").operands
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "stat", "record", "trace", "mem", "c2c", "kmem", "lock", "sched", "kvm", "ftrace":
		s := scan(rest[1:], "perf stat")
		w.takeAll(s)
		command := s.operands
		if len(command) > 0 && (command[0] == "record" || command[0] == "report") {
			again := scan(command[1:], "perf stat")
			w.takeAll(again)
			command = again.operands
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
	s := scanAll(w.call.Args[1:], "xdg-open")
	w.takeAll(s)
	for _, word := range s.operands {
		file, local := strings.CutPrefix(word, "file://")
		if local || !strings.Contains(word, ":") {
			w.touch(Execute, file, "operand")
		}
	}
}

// otherRunner knows subcommands that fit no row.
func otherRunner(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	s := parseArgs(c.Args[1:], &row{options: lookup("uv run").global}, stop|wraps)
	rest := s.operands
	switch {
	case name == "direnv" && len(rest) > 0 && (rest[0] == "allow" || rest[0] == "permit" || rest[0] == "grant" || rest[0] == "edit"):
		for _, file := range rest[1:] {
			w.touch(Read, file, "operand")
		}
		return w.done(), true
	case name == "uv" && len(rest) > 1 && rest[0] == "tool" && rest[1] == "run":
		w.takeAll(s)
		w.row(lookup("uvx"), rest[2:])
		return w.done(), true
	}
	return Use{}, false
}
