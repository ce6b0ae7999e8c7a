package wrap

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// parallelUse is parallel: a line of shell with places for its input, which
// comes from the words after :::, from files or from the standard input.
func parallelUse(name string, c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(append(strings.Fields(w.variable("PARALLEL")), c.Args[1:]...), "parallel")
	for _, o := range s.Options {
		if o.First() == "-W" && o.Value == "..." {
			continue
		}
		w.take(o)
	}
	command, sources := cutSources(s.Operands)
	for i, src := range sources {
		for _, file := range src.files {
			w.touch(commands.Read, file, "::::")
			text, ok := w.call.FileText(file)
			if !ok {
				text = mark.Any
			}
			sources[i].items = append(sources[i].items, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
	}
	p := parallelJob{wrapping: w, scan: s, command: command}
	p.place = "{}"
	if v, ok := s.Value("-I"); ok && v != "" {
		p.place = v
	}
	switch {
	case w.none:
	case name == "sem" || s.Has("--semaphore"):
		p.line(nil)
	case s.Has("--pipe") || s.Has("--pipepart"):
		p.line(nil)
	default:
		p.each(p.combine(p.inputs(sources)))
	}
	return w.done()
}

// A source is a list of inputs after ::: or the files after ::::.
type source struct {
	items []string
	files []string
}

// cutSources separates the command from its inputs.
func cutSources(words []string) (command []string, sources []source) {
	at := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, ":::") })
	if at < 0 {
		return words, nil
	}
	command = words[:at]
	files := false
	for _, word := range words[at:] {
		switch word {
		case ":::", ":::+", "::::", "::::+":
			files = strings.HasPrefix(word, "::::")
			sources = append(sources, source{})
			continue
		}
		last := &sources[max(len(sources)-1, 0)]
		if files {
			last.files = append(last.files, word)
		} else {
			last.items = append(last.items, word)
		}
	}
	return command, sources
}

type parallelJob struct {
	*wrapping
	scan    *table.Parsed
	command []string
	place   string
}

// inputs are the lists that the command runs over.
func (p *parallelJob) inputs(sources []source) [][]string {
	var lists [][]string
	for _, src := range sources {
		lists = append(lists, src.items)
	}
	if len(lists) > 0 {
		return lists
	}
	input, ok := p.call.Stdin, p.call.Fed
	if file, given := p.scan.Value("-a"); given && file != "-" {
		input, ok = p.call.FileText(file)
	}
	if !ok {
		return [][]string{{mark.Any}}
	}
	separator := "\n"
	if v, ok := p.scan.Value("-d"); ok {
		separator = delimiterOf(v)
	}
	if p.scan.Has("-0") {
		separator = "\x00"
	}
	text := strings.TrimSuffix(input, separator)
	return [][]string{strings.Split(text, separator)}
}

// combine gives every combination of the inputs, up to a bound.
func (p *parallelJob) combine(lists [][]string) [][]string {
	sets := [][]string{nil}
	for _, list := range lists {
		var next [][]string
		for _, set := range sets {
			for _, item := range list {
				if len(next) == maxGroups {
					next = append(next, slices.Repeat([]string{mark.Any}, len(set)+1))
					break
				}
				next = append(next, append(slices.Clone(set), item))
			}
			if len(next) > maxGroups {
				break
			}
		}
		sets = next
	}
	return p.columns(sets)
}

// each runs the command for every set of inputs. Without a command the inputs
// are commands themselves.
func (p *parallelJob) each(sets [][]string) {
	for _, set := range sets {
		if len(p.command) == 0 {
			p.code(strings.Join(set, " "), "input")
			continue
		}
		p.line(set)
	}
}

// line runs the command with one set of inputs.
func (p *parallelJob) line(set []string) {
	words := slices.Clone(p.command)
	if all := strings.Join(words, " "); len(set) > 0 && !strings.Contains(all, "{") && !strings.Contains(all, p.place) {
		words = append(words, p.place)
	}
	quoted := p.scan.Has("--quote")
	for i := range words {
		words[i] = p.fill(words[i], set, quoted)
	}
	if quoted {
		p.args(words, "command")
		return
	}
	p.code(strings.Join(words, " "), "command")
}

// fill puts the inputs in their places.
func (p *parallelJob) fill(word string, set []string, raw bool) string {
	quote := shellWord
	if raw {
		quote = func(s string) string { return s }
	}
	all := make([]string, len(set))
	for i, item := range set {
		all[i] = quote(item)
	}
	if len(set) > 0 {
		word = replaceAll(word, p.place, strings.Join(all, " "))
	}
	if !strings.Contains(word, "{") {
		return word
	}
	word = replaceAll(replaceAll(word, "{#}", mark.Atom), "{%}", mark.Atom)
	for i, item := range set {
		n := strconv.Itoa(i + 1)
		word = fillForms(word, n, item, quote)
		if i == 0 {
			word = fillForms(word, "", item, quote)
		}
	}
	if i := strings.Index(word, "{="); i >= 0 {
		return word[:i] + mark.Any
	}
	return word
}

// fillForms replaces {n} and the forms that stand for a part of it: {n.}, {n/},
// {n//} and {n/.}. A part leads where the whole leads, or above.
func fillForms(word, n, item string, quote func(string) string) string {
	for _, form := range [...]string{"", ".", "/", "/.", "//"} {
		text := item
		if form == "//" && !mark.In(item) {
			text = path.Dir(item)
		}
		if n+form != "" {
			word = replaceAll(word, "{"+n+form+"}", quote(text))
		}
	}
	return word
}

// shellWord quotes a text as one word of shell.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-:=@%+,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// columns cuts each input into its columns, where --colsep asks for it.
func (p *parallelJob) columns(sets [][]string) [][]string {
	separator, ok := p.scan.Value("-C")
	if !ok {
		return sets
	}
	for i, set := range sets {
		if len(set) == 1 && !mark.Has(set[0], mark.Any) && separator != "" {
			sets[i] = strings.Split(set[0], strings.TrimPrefix(separator, `\`))
			continue
		}
		sets[i] = slices.Repeat([]string{mark.Any}, 3)
	}
	return sets
}
