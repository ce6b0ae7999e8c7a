package shell

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// shift drops parameters. Where there are fewer, it fails and drops none.
func (m *Machine) shift(args []string) Status {
	args = trimDashes(args)
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(strings.TrimSpace(args[0])); err != nil {
			return m.shiftUnknown()
		}
	}
	if n < 0 || n > len(m.params) {
		return Fails
	}
	m.params = m.params[n:]
	return Succeeds
}

// shiftUnknown drops a number of parameters that nobody knows.
func (m *Machine) shiftUnknown() Status {
	one := partial.OneOf(m.params)
	list := make([]string, len(m.params))
	for i := range list {
		list[i] = one
	}
	m.params = list
	return Unsure
}

// getopts takes the next option of the parameters.
func (m *Machine) getopts(args []string) Status {
	args = trimDashes(args)
	if len(args) < 2 {
		return Fails
	}
	spec, name, words := args[0], args[1], m.params
	if len(args) > 2 {
		words = args[2:]
	}
	at := 1
	if v, ok := m.vars["OPTIND"]; ok {
		n, known := m.numberOf(v.String())
		if !known {
			return m.someOption(name)
		}
		at = max(1, n)
	}
	if at > len(words) {
		return m.noOption(name, at)
	}
	word := words[at-1]
	if mark.In(word) || mark.In(spec) {
		return m.someOption(name)
	}
	if m.option == 0 && (len(word) < 2 || word[0] != '-') {
		return m.noOption(name, at)
	}
	if word == "--" {
		return m.noOption(name, at+1)
	}
	m.takeOption(spec, name, words, at)
	return Succeeds
}

// takeOption takes one letter of the word at a place.
func (m *Machine) takeOption(spec, name string, words []string, at int) {
	word, i := words[at-1], max(1, m.option)
	if i >= len(word) {
		i = 1
	}
	letter := word[i]
	where := strings.IndexByte(spec, letter)
	m.option = i + 1
	if m.option >= len(word) {
		m.option = 0
		at++
	}
	found := string(letter)
	switch {
	case where < 0 || letter == ':':
		m.setPlain("OPTARG", found)
		found = "?"
	case !strings.HasPrefix(spec[where+1:], ":"):
	case m.option != 0: // -ofile
		m.setPlain("OPTARG", word[m.option:])
		m.option = 0
		at++
	case at <= len(words):
		m.setPlain("OPTARG", words[at-1])
		at++
	default:
		m.setPlain("OPTARG", mark.Any)
		found = mark.Atom
	}
	m.setPlain(name, found)
	m.setPlain("OPTIND", itoa(at))
}

func (m *Machine) noOption(name string, at int) Status {
	m.option = 0
	m.setPlain(name, "?")
	m.setPlain("OPTIND", itoa(at))
	return Fails
}

// someOption is an option of words that are not known.
func (m *Machine) someOption(name string) Status {
	m.setPlain(name, mark.Atom)
	m.setPlain("OPTARG", mark.Any)
	m.setPlain("OPTIND", mark.Atom)
	return Unsure
}

// asksFor evaluates the subscripts of what test -v asks for.
func (m *Machine) asksFor(args []string) {
	for i, a := range args {
		if a == "-v" && i+1 < len(args) {
			m.placeNamed(args[i+1])
		}
	}
}
