package tool

import "strings"

// row is what is known of one command, in a small language:
//
// options is a list of items, names=kind. A name of one letter is a short
// option, the others are long ones; names of one option are joined with commas.
// "=" says that a value follows, attached or separate, "?" that it only may be
// attached; an item with neither is a flag, which needs no mention unless
// something else depends on it.
//
// operands is a list of kinds in order; the one with a star takes all that the
// others leave.
//
// when says which operands there are instead, if one of some options is given:
// "names: operands | names: operands"; the first that applies counts. The name
// of an option is any of its names.
//
// The kinds are in kind.go.
type row struct {
	name     string // a command, or command and subcommand
	options  string
	operands string
	when     string
	style    style
	out      string // what it prints, a word of prints.go
	like     string // everything else is as with this command
	ask      string // why a person is asked, whatever the arguments are
}

// style is how a command takes options; styles are added up.
type style int

const (
	gnu    style = 1 << iota // long options may be abbreviated
	stop                     // the first operand ends the options
	dash                     // long options have a single dash
	subs                     // the first operand is a subcommand, which may have a row of its own
	equals                   // operands of the form name=value are options without dashes
	plus                     // options may begin with a plus
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

// is reports whether an option has a name.
func (o option) is(name string) bool { return hasName(o.names, name) }

func hasName(names, name string) bool {
	for names != "" {
		n, rest, _ := strings.Cut(names, ",")
		if n == name {
			return true
		}
		names = rest
	}
	return false
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

// style adds up the styles of the rows.
func (p *parsed) style() style {
	var s style
	for _, r := range p.rows {
		s |= r.style
	}
	return s
}

// parse takes an argument vector apart by a row and the rows of the
// subcommands that it finds.
func parse(args []string, r *row) *parsed {
	p := &parsed{rows: []*row{r}, words: args[1:], tail: -1}
	for len(p.words) > 0 {
		word := p.words[0]
		p.words = p.words[1:]
		p.word(word)
	}
	return p
}

// word takes the next argument, and what belongs to it.
func (p *parsed) word(w string) {
	s := p.style()
	switch {
	case p.plain || w == "-" || w == "" || (w[0] != '-' && (s&plus == 0 || w[0] != '+')):
		p.operand(w)
	case w == "--":
		p.plain = true
		p.tail = len(p.operands)
	case strings.HasPrefix(w, "--"):
		p.long(w, w[2:])
	case s&dash != 0:
		p.long(w, w[1:])
	default:
		p.short(w)
	}
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
	name, value, has := strings.Cut(w, "=")
	it, ok := p.item(name, p.style()&gnu != 0)
	if !ok && p.style()&dash != 0 && !strings.HasPrefix(whole, "--") {
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
		p.add(item{names: name}, "", false, at)
	case has:
		p.add(it, value, true, at)
	case it.kind == "" || it.optional:
		p.add(it, "", false, at)
	default:
		p.take(it, at)
	}
}

// glued finds an option of a single letter with its value attached, where long
// options have a single dash: -I../include.
func (p *parsed) glued(w string) (item, string, bool) {
	n := runeLen(w)
	if len(w) == n {
		return item{}, "", false
	}
	it, ok := p.item(w[:n], false)
	if !ok || it.kind == "" {
		return item{}, "", false
	}
	return it, w[n:], true
}

// take gives an option the next argument, or the second next if its kind says
// that there are two: text+read.
func (p *parsed) take(it item, at string) {
	if first, second, two := strings.Cut(it.kind, "+"); two && len(p.words) > 0 {
		p.add(item{it.names, first, false}, p.words[0], true, at)
		p.words = p.words[1:]
		it.kind = second
	}
	if len(p.words) == 0 {
		p.add(it, "", false, at)
		return
	}
	value := p.words[0]
	p.words = p.words[1:]
	p.add(it, value, true, at)
}

// short takes a cluster of options of one letter.
func (p *parsed) short(whole string) {
	for i := 1; i < len(whole) && !p.crowded; {
		n := runeLen(whole[i:])
		name, rest := whole[i:i+n], whole[i+n:]
		i += n
		at := whole[:1] + name
		it, ok := p.item(name, false)
		switch {
		case !ok && rest != "" && pathLike(strings.TrimPrefix(rest, "=")):
			p.add(item{names: name, kind: "loose"}, strings.TrimPrefix(rest, "="), true, at)
			return
		case !ok:
			p.add(item{names: name}, "", false, at)
		case it.kind == "":
			p.add(it, "", false, at)
		case rest != "":
			if p.style()&gnu == 0 {
				rest = strings.TrimPrefix(rest, "=")
			}
			p.add(it, rest, true, at)
			return
		case it.optional:
			p.add(it, "", false, at)
		default:
			p.take(it, at)
			return
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
	names    string
	kind     string
	optional bool // its value is attached or absent
}

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
		case ',', '=', '?', ' ':
			n := options[begin:end]
			exact = exact || n == name
			begins = begins || len(n) > 1 && strings.HasPrefix(n, name)
			begin = end + 1
		}
		if c := options[end]; c == ' ' {
			return end, exact, begins
		} else if c == '=' || c == '?' {
			return skipKind(options, end), exact, begins
		}
	}
	n := options[begin:]
	return end, exact || n == name, begins || len(n) > 1 && strings.HasPrefix(n, name)
}

// skipKind returns where an option ends whose kind begins at a place.
func skipKind(options string, at int) int {
	if i := strings.IndexByte(options[at:], ' '); i >= 0 {
		return at + i
	}
	return len(options)
}

func itemOf(field string) item {
	i := strings.IndexAny(field, "=?")
	if i < 0 {
		return item{names: field}
	}
	return item{names: field[:i], kind: field[i+1:], optional: field[i] == '?'}
}

// runeLen is the length of a text's first character in bytes.
func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}
