package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// longest is how much of a control sequence is kept. Longer ones are passed over.
const longest = 256

// reader cuts the bytes that a program wrote into characters and control sequences.
type reader struct {
	state func(*Screen, byte)
	seq   []byte
}

func (r *reader) read(s *Screen, p []byte) {
	for _, b := range p {
		if r.state == nil {
			s.plain(b)
		} else {
			r.state(s, b)
		}
	}
}

// next says what the next byte belongs to; nil is text.
func (s *Screen) next(state func(*Screen, byte)) {
	s.reader.state, s.reader.seq = state, s.reader.seq[:0]
}

func (s *Screen) plain(b byte) {
	switch {
	case b == 0x1b:
		s.next((*Screen).escape)
	case b < ' ' || b == 0x7f:
		s.control(b)
	case b < utf8.RuneSelf:
		s.put(rune(b))
	default:
		s.next((*Screen).letter)
		s.letter(b)
	}
}

func (s *Screen) control(b byte) {
	switch b {
	case '\r':
		s.x, s.full = 0, false
	case '\n', '\v', '\f':
		s.full = false
		s.down()
	case '\b':
		s.x, s.full = max(s.x-1, 0), false
	case '\t':
		s.moveTo((s.x/8+1)*8, s.y)
	case 0x0e:
		s.drawing = true
	case 0x0f:
		s.drawing = false
	}
}

// letter collects a character of more than one byte.
func (s *Screen) letter(b byte) {
	seq := append(s.reader.seq, b)
	s.reader.seq = seq
	switch {
	case b < utf8.RuneSelf || len(seq) > 1 && utf8.RuneStart(b): // the one before was cut
		s.next(nil)
		s.put(utf8.RuneError)
		s.plain(b)
	case utf8.FullRune(seq):
		c, _ := utf8.DecodeRune(seq)
		s.next(nil)
		s.put(c)
	}
}

func (s *Screen) escape(b byte) {
	s.next(nil)
	switch b {
	case '[':
		s.next((*Screen).sequence)
	case ']', 'P', 'X', '^', '_':
		s.next((*Screen).skipString)
	case '(':
		s.next(func(s *Screen, b byte) { s.drawing = b == '0'; s.next(nil) })
	case ')', '*', '+', '-', '.', '/', '#', '%', ' ':
		s.next(func(s *Screen, _ byte) { s.next(nil) })
	case 0x1b:
		s.next((*Screen).escape)
	case '7':
		s.saved = [2]int{s.x, s.y}
	case '8':
		s.moveTo(s.saved[0], s.saved[1])
	case 'D':
		s.down()
	case 'E':
		s.x = 0
		s.down()
	case 'M':
		s.up()
	case 'c':
		if s.Switched != nil {
			s.Switched()
		}
		s.reset()
	}
}

// skipString passes over a title, a link, a picture.
func (s *Screen) skipString(b byte) {
	switch b {
	case 0x07, 0x18, 0x1a:
		s.next(nil)
	case 0x1b:
		s.next(func(s *Screen, b byte) {
			if s.next(nil); b != '\\' {
				s.escape(b)
			}
		})
	}
}

// sequence collects a control sequence to its last byte.
func (s *Screen) sequence(b byte) {
	switch {
	case b == 0x1b:
		s.next((*Screen).escape)
	case b == 0x18 || b == 0x1a:
		s.next(nil)
	case b < ' ':
		s.control(b)
	case b >= '@' && b <= '~':
		text := string(s.reader.seq)
		s.next(nil)
		if len(text) < longest {
			s.obey(text, b)
		}
	case len(s.reader.seq) < longest:
		s.reader.seq = append(s.reader.seq, b)
	}
}

// numbers are the parameters of a sequence. One that is missing is 0.
type numbers []int

func numbersOf(text string) (list numbers) {
	for part := range strings.SplitSeq(text, ";") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			n = 0
		}
		list = append(list, min(n, 1<<15))
	}
	return list
}

// at is a parameter, or 0.
func (n numbers) at(i int) int {
	if i >= len(n) {
		return 0
	}
	return n[i]
}

// count is a parameter that is a number of times.
func (n numbers) count() int { return max(n.at(0), 1) }

// obey does what a control sequence asks for.
func (s *Screen) obey(text string, final byte) {
	if rest, ok := strings.CutPrefix(text, "?"); ok {
		if final == 'h' || final == 'l' {
			s.mode(numbersOf(rest), final == 'h')
		}
		return
	}
	if strings.ContainsAny(text, "<=>!$ \"'*") {
		return
	}
	n := numbersOf(text)
	if !s.move(n, final) && !s.erase(n, final) {
		s.shift(n, final)
	}
}

func (s *Screen) mode(n numbers, on bool) {
	for _, m := range n {
		switch m {
		case 47, 1047, 1049:
			s.showOther(on)
		case 1048:
			if on {
				s.saved = [2]int{s.x, s.y}
			} else {
				s.moveTo(s.saved[0], s.saved[1])
			}
		}
	}
}

// move obeys what moves the cursor.
func (s *Screen) move(n numbers, final byte) bool {
	switch final {
	case 'A':
		s.moveTo(s.x, s.y-n.count())
	case 'B', 'e':
		s.moveTo(s.x, s.y+n.count())
	case 'C', 'a':
		s.moveTo(s.x+n.count(), s.y)
	case 'D':
		s.moveTo(s.x-n.count(), s.y)
	case 'E':
		s.moveTo(0, s.y+n.count())
	case 'F':
		s.moveTo(0, s.y-n.count())
	case 'G', '`':
		s.moveTo(n.count()-1, s.y)
	case 'H', 'f':
		s.moveTo(max(n.at(1), 1)-1, n.count()-1)
	case 'd':
		s.moveTo(s.x, n.count()-1)
	case 's':
		s.saved = [2]int{s.x, s.y}
	case 'u':
		s.moveTo(s.saved[0], s.saved[1])
	case 'r':
		s.top, s.bottom = max(n.at(0), 1)-1, s.rows-1
		if b := n.at(1); b > 0 {
			s.bottom = min(b, s.rows) - 1
		}
		if s.top >= s.bottom {
			s.top, s.bottom = 0, s.rows-1
		}
		s.moveTo(0, 0)
	default:
		return false
	}
	return true
}

// erase obeys what erases.
func (s *Screen) erase(n numbers, final byte) bool {
	switch final {
	case 'J':
		s.eraseScreen(n.at(0))
	case 'K':
		switch n.at(0) {
		case 0:
			s.eraseIn(s.y, s.x, s.columns)
		case 1:
			s.eraseIn(s.y, 0, s.x+1)
		case 2:
			s.eraseIn(s.y, 0, s.columns)
		}
	case 'X':
		s.eraseIn(s.y, s.x, s.x+n.count())
	default:
		return false
	}
	return true
}

func (s *Screen) eraseScreen(how int) {
	if how >= 2 && s.main == nil && s.Cleared != nil {
		s.Cleared()
	}
	switch how {
	case 0:
		s.eraseIn(s.y, s.x, s.columns)
		s.empty(s.lines[s.y+1:])
	case 1:
		s.empty(s.lines[:s.y])
		s.eraseIn(s.y, 0, s.x+1)
	case 2:
		s.empty(s.lines)
	}
}

func (s *Screen) eraseIn(y, from, to int) {
	for x := from; x < min(to, s.columns); x++ {
		s.lines[y][x] = ""
	}
}

// shift obeys what moves text.
func (s *Screen) shift(n numbers, final byte) {
	line, inside := s.lines[s.y], s.y >= s.top && s.y <= s.bottom
	k := min(n.count(), s.columns-s.x)
	switch final {
	case '@':
		copy(line[s.x+k:], line[s.x:])
		s.eraseIn(s.y, s.x, s.x+k)
	case 'P':
		copy(line[s.x:], line[s.x+k:])
		s.eraseIn(s.y, s.columns-k, s.columns)
	case 'L':
		if inside {
			s.scrollDown(s.y, n.count())
		}
	case 'M':
		if inside && s.y > 0 {
			s.scrollUp(s.y, n.count())
		} else if inside {
			kept := s.scrolled
			s.scrollUp(s.y, n.count())
			s.scrolled = kept // they were deleted
		}
	case 'S':
		s.scrollUp(s.top, n.count())
	case 'T':
		s.scrollDown(s.top, n.count())
	case 'b':
		for range min(n.count(), s.columns) {
			if c, size := utf8.DecodeRuneInString(s.last); size > 0 {
				s.put(c)
			}
		}
	}
}
