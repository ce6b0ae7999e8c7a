package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// request is how read or mapfile was called.
type request struct {
	names []string
	array string
	delim string
	fd    int
	raw   bool // read -r
	most  int  // characters of read -n and -N, lines of mapfile -n
	whole bool // read -N: no splitting
	odd   bool // how much is read is not known
	skip  int  // lines of mapfile -s
	first int  // index of mapfile -O
	adds  bool // mapfile -O keeps what there is
	code  string
	every int
}

// takes are the options of read and mapfile that have a value.
func (r *request) parse(args []string, takes string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			r.names = append(r.names, args[i+1:]...)
			return
		}
		if len(a) < 2 || a[0] != '-' {
			r.names = append(r.names, a)
			continue
		}
		for at := 1; at < len(a); at++ {
			if strings.IndexByte(takes, a[at]) < 0 {
				r.raw = r.raw || a[at] == 'r'
				continue
			}
			value := a[at+1:]
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			r.option(a[at], value)
			break
		}
	}
}

func (r *request) option(option byte, value string) {
	n, err := strconv.Atoi(value)
	switch option {
	case 'a':
		r.array = value
	case 'd':
		if r.delim = "\x00"; value != "" {
			r.delim = value[:1]
		}
	case 'u':
		r.fd = n
	case 'n', 'N':
		r.most, r.whole, r.odd = n, option == 'N', r.odd || err != nil
	case 't':
		r.odd = true
	case 's':
		r.skip, r.odd = n, r.odd || err != nil
	case 'O':
		r.first, r.adds, r.odd = n, true, r.odd || err != nil
	case 'c':
		r.every = n
	case 'C':
		r.code = value
	}
}

func (m *Machine) input(fd int) *Stream {
	s, fed := m.fds[fd]
	if !fed {
		s = unknownStream()
		m.fds[fd] = s
	}
	return s
}

// read takes a line of input into variables. A line without an end sets them,
// and fails.
func (m *Machine) read(args []string) Status {
	r := request{delim: "\n"}
	r.parse(args, "adinNptu")
	s := m.input(r.fd)
	line, ended, ok := m.takeLine(s, r)
	if !ok {
		m.assignLine(r, "")
		return Fails
	}
	if r.most > 0 && !mark.In(line) {
		if text := []rune(line); len(text) > r.most {
			line = string(text[:r.most])
			s.at -= len(string(text[r.most:])) + ended
			ended = 1
		}
	}
	m.assignLine(r, line)
	if r.odd || ended == 0 && !mark.In(line) {
		return Unsure
	}
	return Succeeds
}

// takeLine is the next line, with those that a backslash joins to it, and how
// long its end was.
func (m *Machine) takeLine(s *Stream, r request) (line string, ended int, ok bool) {
	for range maxTurns {
		before := s.at
		part, more := s.line(r.delim)
		if !more {
			return line, 0, ok
		}
		ok = true
		ended = max(0, s.at-before-len(part))
		line += part
		if r.raw || !unfinished(part) || ended == 0 {
			return line, ended, true
		}
		line = line[:len(line)-1]
	}
	return mark.Any, 1, true
}

// unfinished reports whether a line ends with a backslash that is not quoted.
func unfinished(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// assignLine splits a line over the names. What follows a part that is not known, and
// may hold blanks, is not known either.
func (m *Machine) assignLine(r request, line string) {
	letters := partial.PlainText(line)
	if !r.raw {
		letters = partial.EscapedText(line)
	}
	switch {
	case r.array != "":
		words := partial.Repeated(partial.Fields(letters, m.ifs(), 0))
		m.set(r.array, expand.Variable{Set: true, Kind: expand.Indexed, List: words})
	case len(r.names) == 0:
		m.setPlain("REPLY", partial.TextOf(letters))
	case r.whole:
		m.store(m.placeNamed(r.names[0]), partial.TextOf(letters))
	default:
		m.assignFields(r.names, partial.Fields(letters, m.ifs(), len(r.names)), line)
	}
}

func (m *Machine) assignFields(names, words []string, line string) {
	for i, name := range names {
		value := ""
		switch {
		case mark.Has(line, mark.Any) && len(names) > 1 && (i >= len(words) || mark.Has(strings.Join(words[:i+1], ""), mark.Any)):
			value = partial.UnknownPart(line)
		case i < len(words):
			value = words[i]
		case mark.Has(line, mark.Inside+mark.Outside+mark.Scratch+mark.System):
			value = partial.UnknownPart(line)
		}
		m.store(m.placeNamed(name), value)
	}
}

// mapfile reads lines into an array.
func (m *Machine) mapfile(args []string) {
	r := request{delim: "\n"}
	r.parse(args, "dnOsuCc")
	name := "MAPFILE"
	if len(r.names) > 0 {
		name = r.names[0]
	}
	v := expand.Variable{Kind: expand.Indexed}
	if r.adds && m.setByScript(name) {
		v = m.resolved(name)
	}
	list := partial.Repeated(m.lines(r))
	if r.odd {
		list = []string{mark.Any}
	}
	m.set(name, partial.Inserted(partial.Arrayed(v), max(0, r.first), list))
	m.calledBack(r, list)
}

// calledBack runs the code of mapfile -C, which gets an index and a line.
func (m *Machine) calledBack(r request, list []string) {
	if r.code == "" {
		return
	}
	if r.every <= 0 || len(list) > 64 {
		m.runLater(r.code + " 0 " + quote(mark.Any))
		return
	}
	for i, line := range list {
		m.runLater(r.code + " " + itoa(i) + " " + quote(line))
	}
}

func (m *Machine) lines(r request) []string {
	s := m.input(r.fd)
	var list []string
	for n := 0; r.most == 0 || len(list) < r.most; n++ {
		line, ok := s.line(r.delim)
		if !ok {
			return list
		}
		if len(list) == maxTurns {
			return append(list, mark.Any)
		}
		if n >= r.skip {
			list = append(list, line)
		}
	}
	return list
}
