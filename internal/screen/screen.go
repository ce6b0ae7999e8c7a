// Package screen knows what a program that draws on a terminal has shown: it follows the
// control sequences that the program wrote, and renders the result as lines of text.
//
// It refuses to be a terminal: it answers nothing, keeps no colours, and bounds whatever
// a program asks for. Package terminal passes a worker's output on to a real one, and
// package cell/terminal connects the two.
package screen

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a size: a program, or a terminal, may claim any.
const (
	maxRows    = 500
	maxColumns = 1000
)

// The size of a screen of which nothing is known.
const (
	DefaultRows    = 40
	DefaultColumns = 120
)

// wideRest is the second column of a wide character.
const wideRest = "\x00"

// row is a line of the screen: the text of each column, "" for none.
type row []string

// Screen is what a program has drawn so far.
type Screen struct {
	rows, columns int
	lines         []row
	main          []row // what is below the other screen, while that is shown
	x, y          int
	full          bool // the cursor is behind the last column
	top, bottom   int  // the part that scrolls
	saved         [2]int
	mainSaved     [2]int
	drawing       bool // letters stand for lines and corners
	last          string
	scrolled      []string
	reader        reader
	// Switched is called before the other screen, or this one again, takes its place.
	Switched func()
	// Cleared is called when a program on the main screen erases everything to draw it anew.
	Cleared func()
}

// New is an empty screen.
func New(rows, columns int) *Screen {
	s := &Screen{}
	s.rows, s.columns = bounded(rows, columns)
	s.reset()
	return s
}

func bounded(rows, columns int) (int, int) {
	return min(max(rows, 1), maxRows), min(max(columns, 1), maxColumns)
}

func (s *Screen) reset() {
	s.lines, s.main = s.blank(), nil
	s.x, s.y, s.full, s.top, s.bottom, s.drawing = 0, 0, false, 0, s.rows-1, false
	s.saved, s.mainSaved = [2]int{}, [2]int{}
}

func (s *Screen) blank() []row {
	lines := make([]row, s.rows)
	for i := range lines {
		lines[i] = make(row, s.columns)
	}
	return lines
}

// Resize gives the screen another size. Lines that have no place any more scroll away.
func (s *Screen) Resize(rows, columns int) {
	rows, columns = bounded(rows, columns)
	if over := s.y - (rows - 1); over > 0 {
		s.scrollAway(s.lines[:over])
		s.lines, s.y = s.lines[over:], rows-1
	}
	s.rows, s.columns = rows, columns
	s.lines = s.fit(s.lines)
	if s.main != nil {
		s.main = s.fit(s.main)
	}
	s.x, s.full, s.top, s.bottom = min(s.x, columns-1), false, 0, rows-1
}

// fit cuts or fills lines to the size of the screen.
func (s *Screen) fit(lines []row) []row {
	out := s.blank()
	for i := range min(len(lines), s.rows) {
		copy(out[i], lines[i])
	}
	return out
}

// Write draws what a program wrote.
func (s *Screen) Write(p []byte) (int, error) {
	s.reader.read(s, p)
	return len(p), nil
}

// Lines are what is on the screen now, without the spaces at the ends.
func (s *Screen) Lines() []string {
	list := make([]string, 0, s.rows)
	for _, r := range s.lines {
		list = append(list, r.text())
	}
	return list
}

// Text is what is on the screen now.
func (s *Screen) Text() string { return strings.TrimRight(strings.Join(s.Lines(), "\n"), "\n") }

// BeforeCursor is what stands before the cursor on its line, with the spaces at the end: where a person types, the
// program that reads it shows it there.
func (s *Screen) BeforeCursor() string { return s.lines[s.y][:s.x].all() }

func (r row) text() string { return strings.TrimRight(r.all(), " ") }

func (r row) all() string {
	var b strings.Builder
	for _, c := range r {
		switch c {
		case "":
			b.WriteByte(' ')
		case wideRest:
		default:
			b.WriteString(c)
		}
	}
	return b.String()
}

// takeScrolled are the lines that left the top of the main screen since it was asked last.
func (s *Screen) takeScrolled() []string {
	list := s.scrolled
	s.scrolled = nil
	return list
}

func (s *Screen) scrollAway(lines []row) {
	if s.main != nil {
		return // the other screen keeps nothing
	}
	for _, r := range lines {
		s.scrolled = append(s.scrolled, r.text())
	}
}

// put draws a character at the cursor.
func (s *Screen) put(c rune) {
	if s.drawing {
		c = lineDrawing(c)
	}
	wide := width(c)
	if wide == 0 {
		s.combine(c)
		return
	}
	if s.full || s.x+wide > s.columns {
		s.x, s.full = 0, false
		s.down()
	}
	line := s.lines[s.y]
	s.last = string(c)
	if line[s.x] == wideRest && s.x > 0 {
		line[s.x-1] = ""
	}
	line[s.x] = s.last
	if wide == 2 && s.x+1 < s.columns {
		line[s.x+1] = wideRest
	}
	if next := s.x + wide; next < s.columns && line[next] == wideRest {
		line[next] = ""
	}
	if s.x += wide; s.x >= s.columns {
		s.x, s.full = s.columns-1, true
	}
}

// combine puts a mark on the character before the cursor.
func (s *Screen) combine(c rune) {
	at := s.x - 1
	if s.full {
		at = s.x
	}
	if at > 0 && s.lines[s.y][at] == wideRest {
		at--
	}
	const most = 32 // bytes of one character
	if at >= 0 && s.lines[s.y][at] != "" && len(s.lines[s.y][at])+utf8.RuneLen(c) <= most {
		s.lines[s.y][at] += string(c)
	}
}

// down goes a line down, and scrolls at the bottom.
func (s *Screen) down() {
	switch {
	case s.y == s.bottom:
		s.scrollUp(s.top, 1)
	case s.y < s.rows-1:
		s.y++
	}
}

// up goes a line up, and scrolls at the top.
func (s *Screen) up() {
	switch {
	case s.y == s.top:
		s.scrollDown(s.top, 1)
	case s.y > 0:
		s.y--
	}
}

// scrollUp removes lines at a place of the part that scrolls, and adds empty ones below.
func (s *Screen) scrollUp(at, n int) {
	n = min(n, s.bottom-at+1)
	if n <= 0 {
		return
	}
	if at == 0 {
		s.scrollAway(s.lines[:n])
	}
	part := s.lines[at : s.bottom+1]
	copy(part, part[n:])
	s.empty(part[len(part)-n:])
}

// scrollDown adds empty lines at a place of the part that scrolls.
func (s *Screen) scrollDown(at, n int) {
	n = min(n, s.bottom-at+1)
	if n <= 0 {
		return
	}
	part := s.lines[at : s.bottom+1]
	copy(part[n:], part)
	s.empty(part[:n])
}

func (s *Screen) empty(lines []row) {
	for i := range lines {
		lines[i] = make(row, s.columns)
	}
}

// moveTo moves the cursor to a place of the screen.
func (s *Screen) moveTo(x, y int) {
	s.x, s.y, s.full = min(max(x, 0), s.columns-1), min(max(y, 0), s.rows-1), false
}

// showOther shows the other screen, or the main one again.
func (s *Screen) showOther(on bool) {
	if on == (s.main != nil) {
		return
	}
	if s.Switched != nil {
		s.Switched()
	}
	if on {
		s.main, s.mainSaved = s.lines, [2]int{s.x, s.y}
		s.lines = s.blank()
	} else {
		s.lines, s.main = s.main, nil
		s.moveTo(s.mainSaved[0], s.mainSaved[1])
	}
	s.top, s.bottom = 0, s.rows-1
}
