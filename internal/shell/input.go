package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"cordon/internal/mark"
)

// request is how read was called.
type request struct {
	names []string
	array string
	delim string
	fd    int
}

func readRequest(args []string) request {
	r := request{delim: "\n"}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			r.names = append(r.names, a)
			continue
		}
		at := strings.IndexAny(a, "adinNptu")
		if at < 0 {
			continue
		}
		value := a[at+1:]
		if value == "" && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch a[at] {
		case 'a':
			r.array = value
		case 'd':
			r.delim = value
			if value == "" {
				r.delim = "\x00"
			}
		case 'u':
			r.fd, _ = strconv.Atoi(value)
		}
	}
	return r
}

// read takes a line of input into variables.
func (m *Machine) read(args []string) Status {
	r := readRequest(args)
	for i, name := range r.names {
		if bare, index, ok := strings.Cut(name, "["); ok {
			m.evaluated(index)
			r.names[i] = bare
		}
	}
	s, fed := m.fds[r.fd]
	if !fed {
		s = unknownStream()
		m.fds[r.fd] = s
	}
	line, ok := s.line(r.delim)
	if !ok {
		m.give(r, "")
		return Fails
	}
	m.give(r, line)
	return Succeeds
}

// give splits a line over the names. A listing's line gives each name what the
// line is.
func (m *Machine) give(r request, line string) {
	ifs := m.get("IFS").String()
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(ifs, c) })
	if r.array != "" {
		m.set(r.array, expand.Variable{Set: true, Kind: expand.Indexed, List: words})
		return
	}
	if len(r.names) == 0 {
		m.setPlain("REPLY", line)
		return
	}
	for i, name := range r.names {
		switch {
		case mark.Has(line, mark.Any) && len(r.names) > 1 && !knownUntil(words, i):
			m.setPlain(name, unknownPart(line))
		case i == len(r.names)-1 && i < len(words):
			m.setPlain(name, strings.TrimFunc(strings.Join(words[i:], " "), func(c rune) bool { return strings.ContainsRune(ifs, c) }))
		case i < len(words):
			m.setPlain(name, words[i])
		default:
			m.setPlain(name, "")
		}
	}
}

// knownUntil reports whether the words up to one hold nothing that may hold
// blanks: a mark for anything moves every word after it.
func knownUntil(words []string, i int) bool {
	if i >= len(words) {
		return false
	}
	for _, w := range words[:i+1] {
		if mark.Has(w, mark.Any) {
			return false
		}
	}
	return true
}

// unknownPart is what is known of a part of a line that is not known.
func unknownPart(line string) string {
	for _, k := range []string{mark.Any, mark.Outside, mark.Inside, mark.Scratch, mark.System} {
		if mark.Has(line, k) {
			return k
		}
	}
	return mark.Atom
}

// mapfile reads lines into an array.
func (m *Machine) mapfile(args []string) {
	r := request{delim: "\n"}
	name := "MAPFILE"
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			name = a
			continue
		}
		if !strings.ContainsRune("dnOsuCc", rune(a[1])) {
			continue
		}
		value := a[2:]
		if value == "" && i+1 < len(args) {
			i++
			value = args[i]
		}
		m.mapOption(&r, a[1], value)
	}
	m.set(name, expand.Variable{Set: true, Kind: expand.Indexed, List: m.lines(r)})
}

func (m *Machine) mapOption(r *request, option byte, value string) {
	switch option {
	case 'd':
		r.delim = value
		if value == "" {
			r.delim = "\x00"
		}
	case 'u':
		r.fd, _ = strconv.Atoi(value)
	case 'C':
		m.later(value)
	}
}

func (m *Machine) lines(r request) []string {
	s, fed := m.fds[r.fd]
	if !fed {
		s = unknownStream()
	}
	var list []string
	for len(list) < maxTurns {
		line, ok := s.line(r.delim)
		if !ok {
			break
		}
		list = append(list, line)
	}
	return list
}
