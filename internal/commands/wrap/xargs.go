package wrap

import (
	"slices"
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

const (
	maxGroups = 100 // how often one wrapper runs its command before the rest is unknown
	maxCopies = 9   // how many arguments a mark for several paths stands for at most
)

// xargsUse is xargs: a command, and arguments for it from the standard input.
func xargsUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "xargs")
	w.takeAll(s)
	x := newXargs(s)
	input := w.xargsInput(s)
	items := x.items(input)
	command := s.Operands
	if len(command) == 0 {
		w.use.Out = strings.Join(items, " ") + "\n"
		return w.done()
	}
	if len(items) == 0 && s.Has("-r") {
		return w.done()
	}
	for _, group := range x.groups(items, input) {
		r := w.again("command")
		r.Args = x.fill(command, group)
		r.Fed = !s.Has("-a") && !s.Has("-o")
		if !w.none && !sameAsLast(w.use.Runs, r) {
			w.add(r)
		}
	}
	if w.unsure && len(command) > 1 {
		w.args(append(slices.Clone(command[1:]), mark.Any), "command after an unknown option")
	}
	return w.done()
}

func sameAsLast(runs []commands.Run, r commands.Run) bool {
	return len(runs) > 0 && slices.Equal(runs[len(runs)-1].Args, r.Args)
}

// xargsInput is the text that the arguments come from.
func (w *wrapping) xargsInput(s *table.Parsed) string {
	file, ok := s.Value("-a")
	if ok && !argtext.IsStdin(file) && file != "-" {
		if text, known := w.call.FileText(file); known {
			return text
		}
		return mark.Any
	}
	if !w.call.Fed {
		return mark.Any
	}
	return w.call.Stdin
}

// xargs is how the input is cut into arguments, and these into runs.
type xargs struct {
	delimiter string // "" is blanks, with quotes
	replace   string // -I: each item takes the place of this
	count     int    // -n
	lines     int    // -L
}

func newXargs(s *table.Parsed) xargs {
	var x xargs
	for _, o := range s.Options {
		switch o.First() {
		case "-0":
			x.delimiter = "\x00"
		case "-d":
			x.delimiter = delimiterOf(o.Value)
		case "-I":
			x.replace = o.Value
		case "-i":
			x.replace = o.Value
			if o.Value == "" {
				x.replace = "{}"
			}
		case "-n":
			x.count, _ = strconv.Atoi(o.Value)
		case "-L", "-l":
			x.lines = 1
			if n, err := strconv.Atoi(o.Value); err == nil && n > 0 {
				x.lines = n
			}
		}
	}
	return x
}

func delimiterOf(v string) string {
	if v == `\0` {
		return "\x00"
	}
	if text, err := strconv.Unquote(`"` + v + `"`); err == nil && strings.HasPrefix(v, `\`) {
		return text
	}
	return v
}

// items cuts the input. A string that ends it counts as an item.
func (x xargs) items(text string) []string {
	switch {
	case x.delimiter == "":
		return splitInput(text, x.replace != "")
	case text == "":
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, x.delimiter), x.delimiter)
}

// splitInput cuts at blanks and newlines, or only at newlines, with the quotes
// and backslashes of xargs.
func splitInput(text string, lines bool) (list []string) {
	var b strings.Builder
	var quote byte
	open := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote == 0 && (ch == '\n' || !lines && isBlank(ch)):
			list, open = argtext.Flush(list, &b, open), false
		case !open && isBlank(ch) && quote == 0:
		case quote == 0 && ch == '\\':
			i++
			b.WriteString(text[min(i, len(text)):min(i+1, len(text))])
			open = true
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, open = ch, true
		case quote != 0 && (ch == quote || ch == '\n'):
			quote = 0
		default:
			b.WriteByte(ch)
			open = true
		}
	}
	return argtext.Flush(list, &b, open)
}

func isBlank(ch byte) bool { return ch == ' ' || ch == '\t' }

// groups cuts the items into the arguments of each run.
func (x xargs) groups(items []string, input string) [][]string {
	if len(items) == 0 {
		if x.replace != "" {
			return nil
		}
		return [][]string{nil}
	}
	size := 0
	switch {
	case x.replace != "":
		size = 1
	case x.lines > 0 && x.delimiter != "":
		size = x.lines
	case x.lines > 0:
		return x.byLine(input)
	case x.count > 0:
		size = x.count
	}
	return chunks(manifold(items, size), size)
}

// byLine gives a run the words of some lines.
func (x xargs) byLine(input string) [][]string {
	var list [][]string
	for some := range slices.Chunk(argtext.Lines(input), x.lines) {
		if len(list) == maxGroups {
			return append(list, []string{mark.Any})
		}
		list = append(list, manifold(splitInput(strings.Join(some, "\n"), false), 0))
	}
	return list
}

// manifold repeats an item that stands for several, so that a command sees it
// in each place where one of them may be.
func manifold(items []string, size int) []string {
	copies := min(size, maxCopies)
	if size <= 0 {
		copies = 3
	}
	var list []string
	for _, item := range items {
		list = append(list, item)
		if !mark.Has(item, mark.Any+mark.Inside+mark.Scratch+mark.System+mark.Outside) {
			continue
		}
		for range copies - 1 {
			list = append(list, item)
		}
	}
	return list
}

// chunks cuts a list into pieces of a size; 0 is one piece. What is too much is
// one more piece that is not known.
func chunks(items []string, size int) [][]string {
	if size <= 0 {
		return [][]string{items}
	}
	var list [][]string
	for piece := range slices.Chunk(items, size) {
		if len(list) == maxGroups {
			return append(list, []string{mark.Any})
		}
		list = append(list, piece)
	}
	return list
}

// fill is the argument vector of one run.
func (x xargs) fill(command, group []string) []string {
	args := slices.Clone(command)
	if x.replace == "" {
		return append(args, group...)
	}
	for i := range args {
		args[i] = replaceAll(args[i], x.replace, strings.Join(group, " "))
	}
	return args
}

// maxText bounds what replacing can make of a text.
const maxText = 1 << 17

// replaceAll replaces, and knows nothing of a text that would grow too long.
func replaceAll(text, old, with string) string {
	if old == "" {
		return text
	}
	if n := strings.Count(text, old); n > 0 && len(text)+n*len(with) > maxText {
		return mark.Any
	}
	return strings.ReplaceAll(text, old, with)
}
