package table

import (
	"slices"
	"strings"

	"cordon/internal/commands/argtext"
)

// Option is one that was found: an item of a row and what was given for it.
type Option struct {
	names string // all its names, joined with commas
	Kind  string // "" for a flag
	Value string
	Has   bool   // there is a value
	At    string // how it was written, for a person
	After int    // how many operands came before it
}

// Is reports whether an option has a name, which may be given without dashes.
func (o Option) Is(name string) bool {
	name = strings.TrimLeft(name, "-")
	for n := range strings.SplitSeq(o.names, ",") {
		if strings.TrimLeft(n, "-") == name {
			return true
		}
	}
	return false
}

// First is the first of an option's names.
func (o Option) First() string {
	name, _, _ := strings.Cut(o.names, ",")
	return name
}

// Parsed is an argument vector taken apart.
type Parsed struct {
	Rows     []*Row // the command's and its subcommands', the outermost first
	Words    []string
	Options  []Option
	Operands []string
	Plain    bool // a "--" was there, or something else ended the options
	Tail     int  // how many operands came before "--"; -1 without
	Crowded  bool // there are more options than anybody writes: the others were not looked at
	Unsure   bool // an option was not known, and may have a value
	Extra    Style
}

// MaxParsed bounds the work on one call: each option is looked up in its row.
const MaxParsed = 1024

// Given returns the last of the options that has one of some names.
func (p *Parsed) Given(names ...string) (Option, bool) {
	for i := len(p.Options) - 1; i >= 0; i-- {
		for _, n := range names {
			if p.Options[i].Is(n) {
				return p.Options[i], true
			}
		}
	}
	return Option{}, false
}

// Has reports whether one of some options was given.
func (p *Parsed) Has(names ...string) bool {
	_, ok := p.Given(names...)
	return ok
}

// Value is the last value of an option.
func (p *Parsed) Value(name string) (string, bool) {
	o, ok := p.Given(name)
	return o.Value, ok
}

// Text is the last value of an option that has one of some names; "" without.
func (p *Parsed) Text(names ...string) string {
	o, _ := p.Given(names...)
	return o.Value
}

// Ended reports whether the options ended with "--".
func (p *Parsed) Ended() bool { return p.Tail >= 0 }

// style adds up the styles of the rows.
func (p *Parsed) style() Style {
	s := p.Extra
	for _, r := range p.Rows {
		s |= r.Style
	}
	return s
}

// Parse takes an argument vector apart by a row and the rows of the
// subcommands that it finds.
func Parse(args []string, r *Row) *Parsed { return ParseArgs(args[1:], r, 0) }

// ParseArgs takes arguments apart by a row, with more styles than it has.
func ParseArgs(args []string, r *Row, extra Style) *Parsed {
	p := &Parsed{Rows: []*Row{r}, Words: args, Tail: -1, Extra: extra}
	for p.Step() {
	}
	return p
}

// Step takes the next argument, and what belongs to it. It reports whether there
// was one.
func (p *Parsed) Step() bool {
	if len(p.Words) == 0 {
		return false
	}
	if p.Plain {
		p.Operands, p.Words = slices.Concat(p.Operands, p.Words), nil
		return false
	}
	w := p.Words[0]
	s := p.style()
	if s&(Stop|subs|equals) == Stop && (w == "" || w[0] != '-') { // without a copy: it may be long
		p.Operands, p.Words, p.Plain = p.Words[:len(p.Words):len(p.Words)], nil, true
		return false
	}
	p.Words = p.Words[1:]
	switch {
	case w == "" || (w[0] != '-' && (s&plus == 0 || w[0] != '+')):
		p.operand(w)
	case w == "--":
		p.Plain = true
		p.Tail = len(p.Operands)
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
func (p *Parsed) alone() {
	if it, ok := p.Item("-", false); ok {
		p.add(it, "", false, "-")
		return
	}
	p.operand("-")
}

// knows reports whether a word with one dash is a long option.
func (p *Parsed) knows(w string) bool {
	name, _, _ := strings.Cut(w, "=")
	_, ok := p.Item(name, false)
	return ok && len(name) > 2
}

// operand takes an argument that is none of the options.
func (p *Parsed) operand(w string) {
	s := p.style()
	if s&equals != 0 && !p.Plain {
		if name, _, ok := strings.Cut(w, "="); ok {
			if item, ok := p.Item(name, false); ok {
				p.add(item, w[len(name)+1:], true, name+"=")
				return
			}
		}
	}
	if last := p.Rows[len(p.Rows)-1]; last.Style&subs != 0 && !p.Plain && len(p.Operands) == 0 {
		if r := Lookup(last.Name + " " + w); r != nil {
			p.Rows = append(p.Rows, r)
			return
		}
	}
	p.Operands = append(p.Operands, w)
	if s&Stop != 0 {
		p.Plain = true
	}
}

// long takes an option that is a word.
func (p *Parsed) long(whole, w string) {
	s := p.style()
	name, value, has := strings.Cut(w, "=")
	dashes := whole[:len(whole)-len(w)]
	if s&dash != 0 {
		dashes = "-"
	}
	it, ok := p.Item(dashes+name, s&(gnu|Wraps) != 0)
	if !ok && s&dash != 0 && !strings.HasPrefix(whole, "--") {
		if it, rest, ok := p.glued(w); ok {
			p.add(it, rest, true, "-"+w[:len(w)-len(rest)])
			return
		}
	}
	at := whole[:len(whole)-len(w)] + name
	switch {
	case !ok && has:
		p.add(item{names: name, Kind: "loose"}, value, true, at)
	case !ok && len(argtext.LooseBits(w)) > 0: // -javaagent:../x.jar
		p.add(item{names: name, Kind: "loose"}, w, true, at)
	case !ok:
		p.Unsure = true
		p.add(item{names: name}, "", false, at)
	default:
		p.take(it, value, has, at)
	}
}

// glued finds an option of a single letter with its value attached, where long
// options have a single dash: -I../include.
func (p *Parsed) glued(w string) (item, string, bool) {
	n := argtext.RuneLen(w)
	if len(w) == n {
		return item{}, "", false
	}
	it, ok := p.Item("-"+w[:n], false)
	if !ok || it.flag() {
		return item{}, "", false
	}
	return it, w[n:], true
}

// take gives an option its value: what is attached, or the next argument. A kind
// such as text+read has two.
func (p *Parsed) take(it item, value string, has bool, at string) {
	if it.flag() || it.Sign == '?' {
		p.add(it, value, has, at)
		return
	}
	for kind := range strings.SplitSeq(it.Kind, "+") {
		if !has && len(p.Words) > 0 {
			value, has = p.Words[0], true
			p.Words = p.Words[1:]
		}
		p.add(item{names: it.names, Kind: kind}, value, has, at)
		value, has = "", false
	}
}

// short takes a cluster of options of one letter.
func (p *Parsed) short(whole string) {
	s := p.style()
	for i := 1; i < len(whole) && !p.Crowded; {
		n := argtext.RuneLen(whole[i:])
		name, rest := whole[i:i+n], whole[i+n:]
		i += n
		at := whole[:1] + name
		it, ok := p.Item("-"+name, false)
		switch {
		case !ok && s&Wraps != 0 && name[0] >= '0' && name[0] <= '9':
			return
		case !ok && rest != "" && argtext.PathLike(strings.TrimPrefix(rest, "=")):
			p.Unsure = true
			p.add(item{names: name, Kind: "loose"}, strings.TrimPrefix(rest, "="), true, at)
			return
		case !ok:
			p.Unsure = true
			p.add(item{names: name}, "", false, at)
		case it.flag():
			p.add(it, "", false, at)
		case it.Kind == "digits": // other letters may follow them
			i = len(whole) - len(strings.TrimLeft(rest, "0123456789"))
			p.add(it, "", false, at)
		default:
			if s&gnu == 0 && len(rest) > 1 {
				rest = strings.TrimPrefix(rest, "=")
			}
			p.take(it, rest, rest != "", at)
			if it.Sign != '?' || rest != "" {
				return
			}
		}
	}
}

func (p *Parsed) add(it item, value string, has bool, at string) {
	if len(p.Options) >= MaxParsed {
		p.Plain, p.Crowded = true, true
		return
	}
	p.Options = append(p.Options, Option{it.names, it.Kind, value, has, at, len(p.Operands)})
}

// item is one option of a row.
type item struct {
	names string
	Kind  string
	Sign  byte // what is before the kind: = a value, ? a value that is attached or absent, ! a flag that does something
}

// flag reports whether an option has no value.
func (it item) flag() bool { return it.Kind == "" || it.Sign == '!' }

// Item looks an option up, in the innermost row first. An abbreviation counts
// if only one option has it.
func (p *Parsed) Item(name string, abbreviated bool) (item, bool) {
	if name == "" {
		return item{}, false
	}
	var found item
	count := 0
	for i := len(p.Rows) - 1; i >= 0; i-- {
		options := p.Rows[i].Options
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
	return item{names: field[:i], Kind: field[i+1:], Sign: field[i]}
}
