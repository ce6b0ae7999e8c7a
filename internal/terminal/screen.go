package terminal

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"cordon/internal/legible"
)

// screen passes a worker's output on to a terminal without what could act on it or hide
// something on it: titles, clipboard writes, queries that type an answer and cursor
// movement are left out, a carriage return begins another line, colours are those that
// can be read on any background, and other characters are made legible.
type screen struct {
	w        io.Writer
	state    func(*screen, byte) // what the next byte belongs to
	seq      []byte              // a control sequence or letter that is not complete
	eye      legible.Eye
	returned bool // the last byte was a carriage return
	painted  bool // a colour of the worker's is set
	colours  bool // whether any are shown
	out      bytes.Buffer
}

// forScreen wraps w when it is a terminal; what goes to a file goes there whole.
func ForScreen(w io.Writer) io.Writer {
	if !Is(w) {
		return w
	}
	return newScreen(w)
}

func newScreen(w io.Writer) *screen {
	return &screen{w: w, state: (*screen).text, colours: colours()}
}

// Write implements io.Writer. It claims every byte it was given.
func (s *screen) Write(p []byte) (int, error) {
	s.out.Reset()
	for _, b := range p {
		s.state(s, b)
	}
	_, err := s.w.Write(s.out.Bytes())
	return len(p), err
}

func (s *screen) text(b byte) {
	if s.returned && b != '\n' { // what comes next would be written over the line
		s.out.WriteString("^M")
		s.newLine()
	}
	s.returned = b == '\r'
	switch {
	case b == '\r':
	case b == '\n':
		s.newLine()
	case b == 0x1b:
		s.state = (*screen).escape
	case b >= utf8.RuneSelf:
		s.seq = append(s.seq[:0], b)
		s.state = (*screen).letter
	case b == 0x07 || b == 0x08 || b == 0x00: // bells, and what progress bars go back with
	default:
		s.out.WriteString(s.eye.See(string(rune(b))))
	}
}

// newLine ends a line, and the worker's colours with it: the next may be cordon's.
func (s *screen) newLine() {
	if s.painted {
		s.out.WriteString(plainColour)
		s.painted = false
	}
	s.out.WriteString(s.eye.See("\n"))
}

// letter collects one of more than one byte. A byte that begins none could be a control
// to a terminal that reads bytes.
func (s *screen) letter(b byte) {
	s.seq = append(s.seq, b)
	if !utf8.FullRune(s.seq) {
		return
	}
	s.state = (*screen).text
	_, n := utf8.DecodeRune(s.seq)
	s.out.WriteString(s.eye.See(string(s.seq[:n])))
	for _, next := range bytes.Clone(s.seq[n:]) { // of one that was cut short
		s.state(s, next)
	}
}

func (s *screen) escape(b byte) {
	switch b {
	case '[':
		s.seq = append(s.seq[:0], 0x1b, '[')
		s.state = (*screen).csi
	case ']', 'P', 'X', '^', '_': // strings: title, clipboard, device control
		s.state = (*screen).str
	case 0x1b:
	case '\n', '\r':
		s.state = (*screen).text
		s.text(b)
	default:
		s.state = (*screen).text
	}
}

const maxSequence = 64

// csi collects a control sequence and passes on what it says of colours.
func (s *screen) csi(b byte) {
	s.seq = append(s.seq, b)
	switch {
	case b == 0x1b:
		s.state = (*screen).escape
	case b >= 0x40 && b <= 0x7e:
		s.state = (*screen).text
		if p := string(s.seq[2 : len(s.seq)-1]); b == 'm' && strings.Trim(p, "0123456789;") == "" {
			s.paint(p)
		}
	case b == '\n', b == '\r':
		s.state = (*screen).text
		s.text(b)
	case b < 0x20 || b > 0x7e || len(s.seq) > maxSequence:
		s.state = (*screen).text
	}
}

// readable are the attributes that leave text readable on a dark and on a light screen:
// none that hides it, no background, and neither black nor white.
var readable = strings.Fields("0 1 2 3 4 22 23 24 31 32 33 34 35 36 39 91 92 93 94 95 96")

// paint passes on those attributes of a sequence that are readable.
func (s *screen) paint(parameters string) {
	var kept []string
	list := strings.Split(parameters, ";")
	for len(list) > 0 {
		first := list[0]
		list = list[1:]
		switch {
		case first == "":
			kept = append(kept, "0")
		case slices.Contains(readable, first):
			kept = append(kept, first)
		case (first == "38" || first == "48" || first == "58") && len(list) > 0: // a colour by numbers
			list = list[min(len(list), map[string]int{"5": 2, "2": 4}[list[0]]):]
		}
	}
	if len(kept) == 0 || !s.colours {
		return
	}
	s.painted = s.painted || slices.ContainsFunc(kept, func(k string) bool { return k != "0" })
	s.out.WriteString("\x1b[" + strings.Join(kept, ";") + "m")
}

// str swallows a string up to its end. A line ends it too: it would swallow all that
// follows otherwise.
func (s *screen) str(b byte) {
	switch b {
	case 0x07:
		s.state = (*screen).text
	case '\n', '\r':
		s.state = (*screen).text
		s.text(b)
	case 0x1b:
		s.state = (*screen).strEnd
	}
}

func (s *screen) strEnd(b byte) {
	switch b {
	case '\\':
		s.state = (*screen).text
	case 0x1b:
	default:
		s.state = (*screen).str
		s.str(b)
	}
}
