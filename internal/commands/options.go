package commands

import (
	"slices"
	"strings"
)

// option is one that was found: an item of a row and what was given for it.
type option struct {
	names string // all its names, joined with commas
	kind  string // "" for a flag
	value string
	has   bool   // there is a value
	at    string // how it was written, for a person
	after int    // how many operands came before it
}

// is reports whether an option has a name, which may be given without dashes.
func (o option) is(name string) bool {
	name = strings.TrimLeft(name, "-")
	for n := range strings.SplitSeq(o.names, ",") {
		if strings.TrimLeft(n, "-") == name {
			return true
		}
	}
	return false
}

// first is the first of an option's names.
func (o option) first() string {
	name, _, _ := strings.Cut(o.names, ",")
	return name
}

// parsed is an argument vector taken apart.
type parsed struct {
	rows     []*row // the command's and its subcommands', the outermost first
	words    []string
	options  []option
	operands []string
	plain    bool // a "--" was there, or something else ended the options
	tail     int  // how many operands came before "--"; -1 without
	crowded  bool // there are more options than anybody writes: the others were not looked at
	unsure   bool // an option was not known, and may have a value
	extra    style
}

// maxParsed bounds the work on one call: each option is looked up in its row.
const maxParsed = 1024

// given returns the last of the options that has one of some names.
func (p *parsed) given(names ...string) (option, bool) {
	for i := len(p.options) - 1; i >= 0; i-- {
		for _, n := range names {
			if p.options[i].is(n) {
				return p.options[i], true
			}
		}
	}
	return option{}, false
}

// has reports whether one of some options was given.
func (p *parsed) has(names ...string) bool {
	_, ok := p.given(names...)
	return ok
}

// value is the last value of an option.
func (p *parsed) value(name string) (string, bool) {
	o, ok := p.given(name)
	return o.value, ok
}

// text is the last value of an option that has one of some names; "" without.
func (p *parsed) text(names ...string) string {
	o, _ := p.given(names...)
	return o.value
}

// ended reports whether the options ended with "--".
func (p *parsed) ended() bool { return p.tail >= 0 }

// style adds up the styles of the rows.
func (p *parsed) style() style {
	s := p.extra
	for _, r := range p.rows {
		s |= r.style
	}
	return s
}

// parse takes an argument vector apart by a row and the rows of the
// subcommands that it finds.
func parse(args []string, r *row) *parsed { return parseArgs(args[1:], r, 0) }

// parseArgs takes arguments apart by a row, with more styles than it has.
func parseArgs(args []string, r *row, extra style) *parsed {
	p := &parsed{rows: []*row{r}, words: args, tail: -1, extra: extra}
	for p.step() {
	}
	return p
}

// step takes the next argument, and what belongs to it. It reports whether there
// was one.
func (p *parsed) step() bool {
	if len(p.words) == 0 {
		return false
	}
	if p.plain {
		p.operands, p.words = slices.Concat(p.operands, p.words), nil
		return false
	}
	w := p.words[0]
	s := p.style()
	if s&(stop|subs|equals) == stop && (w == "" || w[0] != '-') { // without a copy: it may be long
		p.operands, p.words, p.plain = p.words[:len(p.words):len(p.words)], nil, true
		return false
	}
	p.words = p.words[1:]
	switch {
	case w == "" || (w[0] != '-' && (s&plus == 0 || w[0] != '+')):
		p.operand(w)
	case w == "--":
		p.plain = true
		p.tail = len(p.operands)
	case w == "-":
		p.alone()
	case strings.HasPrefix(w, "--"):
		p.long(w, w[2:])
	case s&dash != 0 || p.knows(w):
		p.long(w, w[1:])
	default:
		p.short(w)
	}
	return true
}

// alone takes a dash, which is an option of few commands.
func (p *parsed) alone() {
	if it, ok := p.item("-", false); ok {
		p.add(it, "", false, "-")
		return
	}
	p.operand("-")
}

// knows reports whether a word with one dash is a long option.
func (p *parsed) knows(w string) bool {
	name, _, _ := strings.Cut(w, "=")
	_, ok := p.item(name, false)
	return ok && len(name) > 2
}

// operand takes an argument that is none of the options.
func (p *parsed) operand(w string) {
	s := p.style()
	if s&equals != 0 && !p.plain {
		if name, _, ok := strings.Cut(w, "="); ok {
			if item, ok := p.item(name, false); ok {
				p.add(item, w[len(name)+1:], true, name+"=")
				return
			}
		}
	}
	if last := p.rows[len(p.rows)-1]; last.style&subs != 0 && !p.plain && len(p.operands) == 0 {
		if r := lookup(last.name + " " + w); r != nil {
			p.rows = append(p.rows, r)
			return
		}
	}
	p.operands = append(p.operands, w)
	if s&stop != 0 {
		p.plain = true
	}
}

// long takes an option that is a word.
func (p *parsed) long(whole, w string) {
	s := p.style()
	name, value, has := strings.Cut(w, "=")
	dashes := whole[:len(whole)-len(w)]
	if s&dash != 0 {
		dashes = "-"
	}
	it, ok := p.item(dashes+name, s&(gnu|wraps) != 0)
	if !ok && s&dash != 0 && !strings.HasPrefix(whole, "--") {
		if it, rest, ok := p.glued(w); ok {
			p.add(it, rest, true, "-"+w[:len(w)-len(rest)])
			return
		}
	}
	at := whole[:len(whole)-len(w)] + name
	switch {
	case !ok && has:
		p.add(item{names: name, kind: "loose"}, value, true, at)
	case !ok && len(looseBits(w)) > 0: // -javaagent:../x.jar
		p.add(item{names: name, kind: "loose"}, w, true, at)
	case !ok:
		p.unsure = true
		p.add(item{names: name}, "", false, at)
	default:
		p.take(it, value, has, at)
	}
}

// glued finds an option of a single letter with its value attached, where long
// options have a single dash: -I../include.
func (p *parsed) glued(w string) (item, string, bool) {
	n := runeLen(w)
	if len(w) == n {
		return item{}, "", false
	}
	it, ok := p.item("-"+w[:n], false)
	if !ok || it.flag() {
		return item{}, "", false
	}
	return it, w[n:], true
}

// take gives an option its value: what is attached, or the next argument. A kind
// such as text+read has two.
func (p *parsed) take(it item, value string, has bool, at string) {
	if it.flag() || it.sign == '?' {
		p.add(it, value, has, at)
		return
	}
	for kind := range strings.SplitSeq(it.kind, "+") {
		if !has && len(p.words) > 0 {
			value, has = p.words[0], true
			p.words = p.words[1:]
		}
		p.add(item{names: it.names, kind: kind}, value, has, at)
		value, has = "", false
	}
}

// short takes a cluster of options of one letter.
func (p *parsed) short(whole string) {
	s := p.style()
	for i := 1; i < len(whole) && !p.crowded; {
		n := runeLen(whole[i:])
		name, rest := whole[i:i+n], whole[i+n:]
		i += n
		at := whole[:1] + name
		it, ok := p.item("-"+name, false)
		switch {
		case !ok && s&wraps != 0 && name[0] >= '0' && name[0] <= '9':
			return
		case !ok && rest != "" && pathLike(strings.TrimPrefix(rest, "=")):
			p.unsure = true
			p.add(item{names: name, kind: "loose"}, strings.TrimPrefix(rest, "="), true, at)
			return
		case !ok:
			p.unsure = true
			p.add(item{names: name}, "", false, at)
		case it.flag():
			p.add(it, "", false, at)
		case it.kind == "digits": // other letters may follow them
			i = len(whole) - len(strings.TrimLeft(rest, "0123456789"))
			p.add(it, "", false, at)
		default:
			if s&gnu == 0 && len(rest) > 1 {
				rest = strings.TrimPrefix(rest, "=")
			}
			p.take(it, rest, rest != "", at)
			if it.sign != '?' || rest != "" {
				return
			}
		}
	}
}

func (p *parsed) add(it item, value string, has bool, at string) {
	if len(p.options) >= maxParsed {
		p.plain, p.crowded = true, true
		return
	}
	p.options = append(p.options, option{it.names, it.kind, value, has, at, len(p.operands)})
}

// item is one option of a row.
type item struct {
	names string
	kind  string
	sign  byte // what is before the kind: = a value, ? a value that is attached or absent, ! a flag that does something
}

// flag reports whether an option has no value.
func (it item) flag() bool { return it.kind == "" || it.sign == '!' }

// item looks an option up, in the innermost row first. An abbreviation counts
// if only one option has it.
func (p *parsed) item(name string, abbreviated bool) (item, bool) {
	if name == "" {
		return item{}, false
	}
	var found item
	count := 0
	for i := len(p.rows) - 1; i >= 0; i-- {
		options := p.rows[i].options
		if !strings.Contains(options, name) {
			continue
		}
		for at := 0; at < len(options); {
			end, exact, begins := field(options, at, name)
			switch {
			case exact:
				return itemOf(options[at:end]), true
			case begins && abbreviated:
				found = itemOf(options[at:end])
				count++
			}
			at = end + 1
		}
	}
	return found, count == 1
}

// field goes through the names of the option that begins at a place, and
// returns where it ends, whether it has a name, and whether one begins with it.
// It is called for every option of a row, for every option of a call.
func field(options string, at int, name string) (end int, exact, begins bool) {
	begin := at
	for end = at; end < len(options); end++ {
		switch options[end] {
		case ',', '=', '?', '!', ' ':
			n := options[begin:end]
			exact = exact || n == name
			begins = begins || len(n) > 2 && strings.HasPrefix(n, name)
			begin = end + 1
		}
		if c := options[end]; c == ' ' {
			return end, exact, begins
		} else if c == '=' || c == '?' || c == '!' {
			return skipKind(options, end), exact, begins
		}
	}
	n := options[begin:]
	return end, exact || n == name, begins || len(n) > 2 && strings.HasPrefix(n, name)
}

// skipKind returns where an option ends whose kind begins at a place.
func skipKind(options string, at int) int {
	if i := strings.IndexByte(options[at:], ' '); i >= 0 {
		return at + i
	}
	return len(options)
}

func itemOf(field string) item {
	i := strings.IndexAny(field, "=?!")
	if i < 0 {
		return item{names: field}
	}
	return item{names: field[:i], kind: field[i+1:], sign: field[i]}
}
