package main

import (
	"bytes"
	"io"
	"unicode/utf8"

	"cordon/internal/legible"
)

// screen passes a worker's output on to a terminal without what could act on it:
// titles, clipboard writes, queries that type an answer, cursor movement over
// what cordon said, letters that turn a line around. Text, colours and carriage
// returns pass.
type screen struct {
	w     io.Writer
	state func(*screen, byte) // what the next byte belongs to
	seq   []byte              // a control sequence that is not complete
	out   bytes.Buffer
}

// forScreen wraps w when it is a terminal; what goes to a file goes there whole.
func forScreen(w io.Writer) io.Writer {
	if !terminal(w) {
		return w
	}
	return newScreen(w)
}

func newScreen(w io.Writer) *screen { return &screen{w: w, state: (*screen).text} }

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
	switch {
	case b == 0x1b:
		s.state = (*screen).escape
	case b >= utf8.RuneSelf:
		s.seq = append(s.seq[:0], b)
		s.state = (*screen).letter
	case b == '\n', b == '\r', b == '\t', b >= 0x20 && b != 0x7f:
		s.out.WriteByte(b)
	}
}

// letter collects one of more than one byte. It drops U+0080 to U+009F, which some
// terminals take for escape sequences, and what only changes how others are shown. A
// byte that begins none could be such a control to a terminal that reads bytes.
func (s *screen) letter(b byte) {
	s.seq = append(s.seq, b)
	if !utf8.FullRune(s.seq) {
		return
	}
	s.state = (*screen).text
	r, n := utf8.DecodeRune(s.seq)
	if !legible.Silent(r) {
		s.out.WriteRune(r)
	}
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
	default:
		s.state = (*screen).text
	}
}

const maxSequence = 64

// csi collects a control sequence and passes it on if it only sets colours.
func (s *screen) csi(b byte) {
	s.seq = append(s.seq, b)
	switch {
	case b == 0x1b:
		s.state = (*screen).escape
	case b >= 0x40 && b <= 0x7e:
		s.state = (*screen).text
		if b == 'm' && len(bytes.Trim(s.seq[2:len(s.seq)-1], "0123456789;:")) == 0 {
			s.out.Write(s.seq)
		}
	case b < 0x20 || b > 0x7e || len(s.seq) > maxSequence:
		s.state = (*screen).text
	}
}

// str swallows a string up to its end.
func (s *screen) str(b byte) {
	switch b {
	case 0x07:
		s.state = (*screen).text
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
	}
}
