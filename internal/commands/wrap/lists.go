package wrap

import (
	"slices"

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
	if w.call.Fed {
		for i, file := range argtext.Lines(w.call.Stdin) {
			if i < argtext.MaxLoose && !mark.Has(file, mark.Any) {
				w.touch(commands.Read, file, "standard input")
			}
		}
	}
	words := slices.Clone(s.Operands)
	for i, word := range words {
		if word == "/_" {
			words[i] = mark.Any
		}
	}
	if s.Has("-s") {
		w.command(words, table.Joined)
		return
	}
	w.command(words, 0)
}

// otherRunner knows subcommands that fit no row.
func otherRunner(name string, c commands.Call) (commands.Use, bool) {
	w := newWrapping(c)
	s := table.ParseArgs(c.Args[1:], &table.Row{Options: table.Lookup("uv run").Global}, table.Stop|table.Wraps)
	rest := s.Operands
	switch {
	case name == "direnv" && len(rest) > 0 && (rest[0] == "allow" || rest[0] == "permit" || rest[0] == "grant" || rest[0] == "edit"):
		w.loosely(rest[1:], false)
		return w.done(), true
	case name == "uv" && len(rest) > 1 && rest[0] == "tool" && rest[1] == "run":
		w.takeAll(s)
		w.row(table.Lookup("uvx"), rest[2:])
		return w.done(), true
	}
	return commands.Use{}, false
}
