package screen

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Transcript renders what a program draws as lines that come one after the other. A line
// that leaves the top of the screen is one. So is a line that stands on the screen for
// some time, and everything that is there when nothing moves or the program leaves it. A line that is
// drawn again, or at another place, or beside a bar that moves, does not come again; lines that are
// replaced at once (spinners, a prompt that is being typed) do not come at all.
type Transcript struct {
	to      io.Writer
	screen  *Screen
	shown   []shownLine
	recent  []string // the keys of the lines that came last
	again   []string // those of recent that a program may draw once more
	blank   bool     // an empty line is due
	since   int      // bytes, since the last look
	stands  map[string]*standing
	failure error
}

// shownLine is a line of the screen when it was last looked at.
type shownLine struct {
	text string
	key  string // the text without what is drawn behind it: lines with one key are the same line
	seen int    // how often it was there already
	came bool   // it is in the transcript
}

// lineOf reads a line of a screen. What ends it may be a scrollbar or a part of a progress bar, and is not
// part of its text, unless it is the other side of a frame.
func lineOf(text string) shownLine {
	text = strings.TrimRightFunc(text, func(r rune) bool { return r == ' ' || isBlock(r) })
	key := strings.TrimRightFunc(text, func(r rune) bool { return r == ' ' || isBlock(r) || isFrame(r) })
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " ")); !isFrame(first) {
		text = key
	}
	return shownLine{text: text, key: key}
}

func isFrame(r rune) bool { return r >= 0x2500 && r <= 0x257f } // lines and corners
func isBlock(r rune) bool { return r >= 0x2580 && r <= 0x259f }

// standing is when a text was on the screen, in milliseconds of the clock.
type standing struct {
	from, last  int64
	seen, looks int // at the times that were told: how often it was there, of how many
}

const (
	lookEvery  = 1 << 10 // bytes between two looks at the screen
	steady     = 2       // looks after which a line stays
	recentKept = 400
	// statusLines is how many lines before it a line on the screen may repeat that does not
	// come again: programs draw the same states in turns.
	statusLines = 8
	// blink is for how many milliseconds a line may be away that still stands: programs erase
	// a screen and draw it again. A spinner is away for most of the time.
	blink = 1000
	// readable is how many milliseconds a line stands that a person has read, on a screen
	// that moves elsewhere. It is longer than a clock of seconds stands.
	readable = 1500
)

// NewTranscript writes the lines of a screen of this size.
func NewTranscript(to io.Writer, rows, columns int) *Transcript {
	t := &Transcript{to: to, screen: New(rows, columns), stands: map[string]*standing{}}
	t.screen.Switched = func() { t.look(true) }
	t.screen.Cleared = func() { t.look(false); t.again = append([]string(nil), t.recent...) }
	return t
}

// Resize follows the size of the terminal.
func (t *Transcript) Resize(rows, columns int) {
	t.look(false)
	t.screen.Resize(rows, columns)
}

// Write draws.
func (t *Transcript) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part := rest[:min(len(rest), lookEvery-t.since)]
		rest = rest[len(part):]
		_, _ = t.screen.Write(part) // it takes everything
		if t.since += len(part); t.since == lookEvery {
			t.look(false)
		}
	}
	return len(p), t.failure
}

// Stood says that what is on the screen stood there long enough to be read.
func (t *Transcript) Stood() error {
	t.look(true)
	return t.failure
}

// Clock tells the time, and for how long nothing was drawn before it. Lines that a person
// has read by then come, if they did not just come.
func (t *Transcript) Clock(now, still int64) error {
	t.look(false)
	for _, s := range t.stands {
		s.looks++
	}
	for i := range t.shown {
		l := &t.shown[i]
		if l.key == "" {
			continue
		}
		s := t.stands[l.key]
		if s == nil {
			s = &standing{from: now - still, looks: 1}
			t.stands[l.key] = s
		}
		s.seen, s.last = s.seen+1, now
		if now-s.from >= readable && 3*s.seen > 2*s.looks && !t.cameLately(l.key, 2*len(t.shown)) {
			t.come(l, false)
		}
	}
	for key, s := range t.stands {
		if now-s.last > blink {
			delete(t.stands, key)
		}
	}
	return t.failure
}

// cameLately reports whether a line is one of the last that came.
func (t *Transcript) cameLately(key string, n int) bool {
	return slices.Contains(t.recent[max(len(t.recent)-n, 0):], key)
}

// Rest says that nothing was drawn for some time.
func (t *Transcript) Rest() error {
	t.look(false)
	return t.failure
}

// End writes what is on the screen at the end.
func (t *Transcript) End() error {
	t.look(true)
	return t.failure
}

// look compares the screen with what it was, and writes the lines that are due: all of
// them, or those that stay.
func (t *Transcript) look(all bool) {
	t.since = 0
	gone := t.screen.takeScrolled()
	var now []shownLine
	for _, text := range append(gone, t.screen.Lines()...) {
		now = append(now, lineOf(text))
	}
	for i, j := range same(t.shown, now) {
		now[j].seen, now[j].came = t.shown[i].seen+1, t.shown[i].came
	}
	end := len(now)
	for end > len(gone) && now[end-1].text == "" {
		end--
	}
	for i := range end {
		l := &now[i]
		if i < len(gone) || all || l.seen >= steady {
			t.come(l, i < len(gone))
		}
	}
	t.shown = now[len(gone):]
}

// come writes a line, once.
func (t *Transcript) come(l *shownLine, gone bool) {
	switch {
	case l.came:
	case l.text == "":
		l.came, t.blank = true, true
	case onlyLines(l.text), gone && t.drawnAgain(l.key), !gone && t.cameLately(l.key, statusLines):
		l.came = true
	default:
		l.came = true
		t.write(l)
	}
}

func (t *Transcript) write(l *shownLine) {
	text := l.text
	if t.blank && len(t.recent) > 0 {
		text = "\n" + text
	}
	t.blank = false
	if t.failure == nil {
		_, t.failure = io.WriteString(t.to, text+"\n")
	}
	if t.recent = append(t.recent, l.key); len(t.recent) > 2*recentKept {
		t.recent = append([]string(nil), t.recent[recentKept:]...)
	}
}

// drawnAgain reports whether a line continues what came before the program erased
// everything: some draw their whole history again.
func (t *Transcript) drawnAgain(key string) bool {
	for i, was := range t.again {
		if was == key {
			t.again = t.again[i+1:]
			return true
		}
	}
	t.again = nil
	return false
}

// onlyLines reports whether a text is made of lines, corners, blocks and dots: a frame, or
// a picture.
func onlyLines(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && !isFrame(r) && !isBlock(r) && (r < 0x2800 || r > 0x28ff) })
}

// comparable is how many pairs of lines are compared at most.
const comparable = 1 << 18

// same finds the lines of one look in the next: the longest list of lines that are in
// both, in order. It maps places to places.
func same(was, now []shownLine) map[int]int {
	pairs := map[int]int{}
	first := 0
	for first < len(was) && first < len(now) && was[first].key == now[first].key {
		pairs[first] = first
		first++
	}
	wasEnd, nowEnd := len(was), len(now)
	for wasEnd > first && nowEnd > first && was[wasEnd-1].key == now[nowEnd-1].key {
		wasEnd, nowEnd = wasEnd-1, nowEnd-1
		pairs[wasEnd] = nowEnd
	}
	a, b := was[first:wasEnd], now[first:nowEnd]
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > comparable {
		return pairs
	}
	for i, j := range common(a, b) {
		pairs[first+i] = first + j
	}
	return pairs
}

// common is the longest common list of two lists.
func common(a, b []shownLine) map[int]int {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if a[i].key == b[j].key {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	pairs := map[int]int{}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].key == b[j].key:
			pairs[i] = j
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
