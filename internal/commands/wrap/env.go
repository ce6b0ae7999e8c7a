package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// maxSplits bounds how often -S of env may hold another -S.
const maxSplits = 8

// envUse is env: what -S holds takes the place of the option and is read again.
func envUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	args := c.Args[1:]
	for range maxSplits {
		head, text, tail, found := cutSplitString(args)
		if !found {
			break
		}
		args = append(append(append([]string{}, head...), argtext.SplitWords(text, func(string) string { return mark.Any })...), tail...)
	}
	s := Scan(args, "env")
	w.takeAll(s)
	w.clean = s.Has("-i")
	if s.Has("-S") {
		w.find(commands.Ask, "env -S is nested too deeply", "")
	}
	rest := w.assignments(s.Operands)
	// What is not known before a command that is, is taken for assignments, as in
	// env $(cat .env) make.
	for len(rest) > 1 && rest[0] == mark.Any {
		rest = w.assignments(rest[1:])
	}
	w.command(rest, 0)
	return w.done()
}

// cutSplitString finds the first -S among the options of env.
func cutSplitString(args []string) (head []string, text string, tail []string, found bool) {
	s := &table.Parsed{Rows: []*table.Row{table.Lookup("env")}, Words: args, Extra: table.Stop | table.Wraps}
	for at := 0; !s.Plain && s.Step(); at = len(args) - len(s.Words) {
		if last := len(s.Options) - 1; last >= 0 && s.Options[last].Is("S") {
			return splitFlags(args[at], args[:at]), s.Options[last].Value, s.Words, true
		}
	}
	return nil, "", nil, false
}

// splitFlags keeps the flags that stand before S in one word: -vS, -iS.
func splitFlags(word string, head []string) []string {
	if i := strings.IndexByte(word, 'S'); i > 1 && !strings.HasPrefix(word, "--") {
		return append(append([]string{}, head...), word[:i])
	}
	return head
}

// sudoUse is sudo, which may also edit files, or run a shell.
func sudoUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "sudo")
	rest := w.assignments(s.Operands)
	for len(rest) < len(s.Operands) && len(s.Options) < table.MaxParsed { // options may follow assignments
		more := Scan(rest, "sudo")
		s.Options, s.Operands = append(s.Options, more.Options...), more.Operands
		s.Unsure, s.Crowded = s.Unsure || more.Unsure, s.Crowded || more.Crowded
		rest = w.assignments(s.Operands)
	}
	w.takeAll(s)
	if s.Has("-i") {
		w.enter("~", "--login")
	}
	if s.Has("-e") {
		for _, file := range rest {
			w.touch(commands.Write, file, "-e")
		}
		return w.done()
	}
	mode := table.Style(0)
	if s.Has("-s") || s.Has("-i") {
		mode = table.Shelled
	}
	w.command(rest, mode)
	return w.done()
}

// suUse is su and its relatives: a user, and arguments for that user's shell. A
// login shell begins in the home.
func suUse(name string, c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "su")
	if s.Has("-u") {
		w.takeAll(s)
		w.command(s.Operands, 0)
		return w.done()
	}
	all := scanAll(c.Args[1:], "su")
	switch {
	case all.Has("-l") && len(all.Operands) > 0:
		// The home of another user is no place that the command touches by itself.
		w.dir = "~"
	case all.Has("-l"):
		w.enter("~", "--login")
	}
	w.takeAll(all)
	w.unsure = false
	rest := all.Operands
	if len(rest) > 0 {
		rest = rest[1:]
	}
	switch {
	case name == "sg" && len(rest) > 0:
		w.code(strings.Join(rest, " "), "command")
	case len(rest) > 0 && len(w.codes) == 0:
		w.args(append([]string{"sh"}, rest...), "arguments of the shell")
	case len(w.codes) == 0:
		w.input(nil)
	}
	return w.done()
}

// scriptUse is script, in both its forms: script -c LINE [FILE], and that of BSD,
// script FILE COMMAND.
func scriptUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "script")
	w.takeAll(s)
	if v, ok := s.Value("-t"); ok {
		w.touch(commands.Write, v, "-t")
	}
	if len(s.Operands) > 0 && !s.Ended() {
		w.touch(commands.Write, s.Operands[0], "operand")
		after := Scan(s.Operands[1:], "script")
		w.takeAll(after)
		w.unsure = false
		s.Operands = after.Operands
	}
	w.command(s.Operands, table.Shelled)
	return w.done()
}
