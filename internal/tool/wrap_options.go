package tool

import (
	"strings"

	"cordon/internal/mark"
)

// The options of a wrapper are one string: words such as -u,--user=t, the names
// of one option and the kind of its value.
//
//	(no =)  a flag
//	t       text
//	?       text that is only ever attached to the option
//	r w     a file that is read, or written
//	o       a file that is written, or a command after | or !
//	d       the directory that the command runs in
//	c       a line of shell
//	x       a program that is run
//	e u     a variable that the command gets, or does not get
//	n N     nothing runs: a flag, and one with a value
//	z       the command runs later: a flag
//	X       the words are a command, not a line of shell: a flag
//	2 3     two words of text, or three
//	R W     a file that is read or written, and a word of text
//
// Reading stops at the first word that is no option, as it does in every command
// that runs another one. Long names may be shortened, as getopt has it.

// wrapOption is one option as it was given.
type wrapOption struct {
	name  string // the first of its names
	value string
	kind  byte // 0 is a flag
}

// wrapScan is what the head of an argument vector holds.
type wrapScan struct {
	list   []wrapOption
	rest   []string
	ended  bool // the options ended with --
	unsure bool // an option was not known
	flood  bool // there were too many to read
}

// scanWrap reads the options at the head of an argument vector.
func scanWrap(args []string, spec string) wrapScan {
	s := wrapScan{rest: args}
	for s.step(spec) {
	}
	return s
}

// step reads one word of options, and reports whether there was one.
func (s *wrapScan) step(spec string) bool {
	if len(s.rest) == 0 || s.rest[0] == "" || s.rest[0][0] != '-' {
		return false
	}
	if s.flood = s.flood || len(s.list) > maxOptions; s.flood {
		return false
	}
	word := s.rest[0]
	if word == "--" {
		s.rest, s.ended = s.rest[1:], true
		return false
	}
	_, _, bare := wrapSpec(spec, word)
	if word == "-" && !bare {
		return false
	}
	s.rest = s.rest[1:]
	switch {
	case bare:
		s.named(spec, word, "", false)
	case strings.HasPrefix(word, "--"):
		name, value, has := strings.Cut(word, "=")
		s.named(spec, name, value, has)
	default:
		s.cluster(spec, word)
	}
	return true
}

// maxOptions bounds the options of one call; nobody writes that many.
const maxOptions = 1000

// scanWrapAll reads options wherever they are, up to -- and gives the operands.
func scanWrapAll(args []string, spec string) wrapScan {
	var all wrapScan
	for rest := args; ; {
		s := scanWrap(rest, spec)
		all.list = append(all.list, s.list...)
		all.unsure = all.unsure || s.unsure
		all.flood = s.flood || len(all.list) > maxOptions
		if all.flood || s.ended || len(s.rest) == 0 {
			all.ended = s.ended
			all.rest = append(all.rest, s.rest...)
			return all
		}
		all.rest = append(all.rest, s.rest[0])
		rest = s.rest[1:]
	}
}

// named takes an option by its whole name.
func (s *wrapScan) named(spec, name, value string, has bool) {
	first, kind, ok := wrapSpec(spec, name)
	if !ok {
		s.unsure = s.unsure || !has
		s.list = append(s.list, wrapOption{name: name, value: value})
		return
	}
	s.take(first, kind, value, has)
}

// cluster takes the options of one word of single letters, or a long name with
// a single dash.
func (s *wrapScan) cluster(spec, word string) {
	if name, value, has := strings.Cut(word, "="); has && len(name) > 2 {
		if _, _, ok := wrapSpec(spec, name); ok {
			s.named(spec, name, value, true)
			return
		}
	}
	for i := 1; i < len(word); i++ {
		b := word[i]
		if b >= 0x80 {
			s.unsure = true
			return
		}
		first, kind, ok := wrapSpec(spec, "-"+string(b))
		switch {
		case !ok && b >= '0' && b <= '9':
			return
		case !ok:
			s.unsure = true
		case isFlag(kind):
			s.list = append(s.list, wrapOption{name: first, kind: kind})
		default:
			s.take(first, kind, attached(word[i+1:]), i+1 < len(word))
			return
		}
	}
}

// attached is a value that follows its letter. Some parsers drop a = before it.
func attached(value string) string {
	if len(value) > 1 && value[0] == '=' {
		return value[1:]
	}
	return value
}

// take adds an option and, where it has none attached, takes its value from the
// words that follow.
func (s *wrapScan) take(name string, kind byte, value string, has bool) {
	if !isFlag(kind) && kind != '?' && !has && len(s.rest) > 0 {
		value, s.rest = s.rest[0], s.rest[1:]
	}
	for range extraWords(kind) {
		if len(s.rest) > 0 {
			s.rest = s.rest[1:]
		}
	}
	s.list = append(s.list, wrapOption{name: name, value: value, kind: kind})
}

func isFlag(kind byte) bool { return kind == 0 || kind == 'n' || kind == 'z' || kind == 'X' }

func extraWords(kind byte) int {
	switch kind {
	case '2', 'R', 'W':
		return 1
	case '3':
		return 2
	}
	return 0
}

// wrapSpec looks an option up. A long name that is not there stands for the
// first one that begins with it.
func wrapSpec(spec, name string) (first string, kind byte, ok bool) {
	long := len(name) > 3 && strings.HasPrefix(name, "--")
	for word := range strings.FieldsSeq(spec) {
		names, k, valued := strings.Cut(word, "=")
		var of byte
		if valued && k != "" {
			of = k[0]
		}
		head, _, _ := strings.Cut(names, ",")
		for n := range strings.SplitSeq(names, ",") {
			if n == name {
				return head, of, true
			}
			if long && !ok && strings.HasPrefix(n, name) {
				first, kind, ok = head, of, true
			}
		}
	}
	return first, kind, ok
}

// options reads the options of a wrapper and does what they say.
func (w *wrapping) options(args []string, spec string) []string {
	s := scanWrap(args, spec)
	w.takeAll(s)
	return s.rest
}

// takeAll does what options say. Directories come first: what else an option
// names is found from there.
func (w *wrapping) takeAll(s wrapScan) {
	w.unsure = w.unsure || s.unsure
	if s.flood {
		w.find(Ask, "it has more options than anybody reads", "")
	}
	for _, first := range [...]bool{true, false} {
		for _, o := range s.list {
			if first == (o.kind == 'd') {
				w.take(o)
			}
		}
	}
}

// take does what one option says.
func (w *wrapping) take(o wrapOption) {
	switch o.kind {
	case 'r', 'R':
		w.touch(Read, o.value, o.name)
	case 'w', 'W':
		w.touch(Write, o.value, o.name)
	case 'o':
		w.output(o)
	case 'd':
		w.enter(o.value, o.name)
	case 'c':
		w.codes = append(w.codes, o.value)
	case 'x':
		w.touch(Execute, o.value, o.name)
	case 'e':
		w.assign(o.value)
	case 'u':
		w.unset = append(w.unset, o.value)
	case 'n', 'N':
		w.none = true
	case 'z':
		w.later = true
	case 'X':
		w.plain = true
	}
}

// output is a file to write to, or a command to pipe to.
func (w *wrapping) output(o wrapOption) {
	if o.value != "" && (o.value[0] == '|' || o.value[0] == '!') {
		w.codes = append(w.codes, o.value[1:])
		return
	}
	w.touch(Write, o.value, o.name)
}

// has reports whether an option was given.
func (s wrapScan) has(name string) bool {
	_, ok := s.value(name)
	return ok
}

// value is the last value of an option.
func (s wrapScan) value(name string) (string, bool) {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].name == name {
			return s.list[i].value, true
		}
	}
	return "", false
}

// looksLikePath reports whether a word can only be meant as a path that leads
// somewhere else than straight down from here.
func looksLikePath(word string) bool {
	switch {
	case word == "", strings.Contains(word, "://"):
		return false
	case word[0] == '/', word[0] == '~', word == "..", strings.HasPrefix(word, "../"), strings.HasPrefix(word, "./.."):
		return true
	case mark.First(word) == 0:
		return mark.Has(word, mark.Outside)
	}
	return strings.Contains(word, "/../") || strings.HasSuffix(word, "/..")
}
