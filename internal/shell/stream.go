package shell

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// Stream is text on its way into a command. Those who share a descriptor share
// how far it was read.
type Stream struct {
	text  string
	at    int
	file  string // it is all of this file, whose text is not known
	again int    // how often the same unknown text was a line
}

func (s *Stream) rest() string { return s.text[s.at:] }

// unknownLines is how many lines a text has of which nothing is known.
const unknownLines = 3

// line takes the next line.
func (s *Stream) line(delim string) (string, bool) {
	rest := s.rest()
	if rest == "" {
		return "", false
	}
	switch rest {
	case mark.Any, mark.Inside, mark.Outside, mark.Scratch, mark.System: // any number of lines
		if s.again++; s.again < unknownLines {
			return rest, true
		}
		s.at = len(s.text)
		return rest, true
	}
	line, _, found := strings.Cut(rest, delim)
	s.at += len(line)
	if found {
		s.at += len(delim)
	}
	return line, true
}

// sink is where text goes: to whoever captures it, into a file, or nowhere.
type sink struct {
	text *strings.Builder // captured
	file string
	add  bool
	null bool
}

func (s *sink) write(m *Machine, text string) {
	if s == nil || s.null || text == "" || s.text == nil {
		return
	}
	if s.text.Len()+len(text) > maxText {
		text = mark.Any
	}
	m.run.grow(len(text))
	s.text.WriteString(text)
}

// captureOutput runs f with its output collected.
func (m *Machine) captureOutput(f func()) string {
	outer := m.out
	into := &sink{text: &strings.Builder{}}
	m.out = into
	f() // which may redirect it for good
	m.out = outer
	return into.text.String()
}

// descriptorOf is the number behind a name of a descriptor.
func descriptorOf(path string) (int, bool) {
	switch path {
	case "/dev/stdin", "-":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if rest, ok := strings.CutPrefix(path, dir); ok {
			n, err := strconv.Atoi(rest)
			return n, err == nil
		}
	}
	return 0, false
}
