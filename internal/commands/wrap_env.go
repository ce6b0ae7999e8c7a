package commands

import (
	"strings"

	"cordon/internal/mark"
)

// maxSplits bounds how often -S of env may hold another -S.
const maxSplits = 8

// envUse is env: what -S holds takes the place of the option and is read again.
func envUse(c Call) Use {
	w := newWrapping(c)
	args := c.Args[1:]
	for range maxSplits {
		head, text, tail, found := cutSplitString(args)
		if !found {
			break
		}
		args = append(append(append([]string{}, head...), splitWords(text, w.expand)...), tail...)
	}
	s := scan(args, "env")
	w.takeAll(s)
	w.clean = s.has("-i")
	if s.has("-S") {
		w.find(Ask, "env is given words inside of words too often", "")
	}
	rest := w.assignments(s.operands)
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
	s := &parsed{rows: []*row{lookup("env")}, words: args, extra: stop | wraps}
	for at := 0; !s.plain && s.step(); at = len(args) - len(s.words) {
		if last := len(s.options) - 1; last >= 0 && s.options[last].is("S") {
			return splitFlags(args[at], args[:at]), s.options[last].value, s.words, true
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

// expand is a variable where env itself puts it in.
func (w *wrapping) expand(name string) string {
	if v := w.variable(name); v != "" {
		return v
	}
	return mark.Any
}

// sudoUse is sudo, which may also edit files, or run a shell.
func sudoUse(c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], "sudo")
	rest := w.assignments(s.operands)
	for len(rest) < len(s.operands) && len(s.options) < maxParsed { // options may follow assignments
		more := scan(rest, "sudo")
		s.options, s.operands = append(s.options, more.options...), more.operands
		s.unsure, s.crowded = s.unsure || more.unsure, s.crowded || more.crowded
		rest = w.assignments(s.operands)
	}
	w.takeAll(s)
	if s.has("-i") {
		w.enter("~", "--login")
	}
	if s.has("-e") {
		for _, file := range rest {
			w.touch(Write, file, "-e")
		}
		return w.done()
	}
	mode := style(0)
	if s.has("-s") || s.has("-i") {
		mode = shelled
	}
	w.command(rest, mode)
	return w.done()
}

// suUse is su and its relatives: a user, and arguments for that user's shell. A
// login shell begins in the home.
func suUse(name string, c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], "su")
	if s.has("-u") {
		w.takeAll(s)
		w.command(s.operands, 0)
		return w.done()
	}
	all := scanAll(c.Args[1:], "su")
	switch {
	case all.has("-l") && len(all.operands) > 0:
		// The home of another user is no place that the command touches by itself.
		w.dir = "~"
	case all.has("-l"):
		w.enter("~", "--login")
	}
	w.takeAll(all)
	w.unsure = false
	rest := all.operands
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
	w.params(rest)
	return w.done()
}

// params runs the lines of options with the words that are left as $0 and on.
func (w *wrapping) params(rest []string) {
	if w.none {
		return
	}
	for _, text := range w.codes {
		r := w.again("-c")
		r.Code, r.Params = text, rest
		w.add(r)
	}
	w.codes = nil
}

// scriptUse is script, in both its forms: script -c LINE [FILE], and that of BSD,
// script FILE COMMAND.
func scriptUse(c Call) Use {
	w := newWrapping(c)
	s := scan(c.Args[1:], "script")
	w.takeAll(s)
	if v, ok := s.value("-t"); ok {
		w.touch(Write, v, "-t")
	}
	if len(s.operands) > 0 && !s.ended() {
		w.touch(Write, s.operands[0], "operand")
		after := scan(s.operands[1:], "script")
		w.takeAll(after)
		w.unsure = false
		s.operands = after.operands
	}
	w.command(s.operands, shelled)
	return w.done()
}
