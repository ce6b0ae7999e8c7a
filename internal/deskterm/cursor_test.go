package deskterm

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// on are the lines that a comment would be about.
func on(m *Model) string {
	l := m.lines()
	return fmt.Sprintf("%s %s %d-%d %s", l.Path, l.Side, l.From, l.To, l.Blob)
}

// A range is about the lines of one file between where it began and the cursor: on the new side if something new is
// among them, else on the old one.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		width      int
		keys, want string
	}{
		{80, "j j", "src/greet.go new 11-11 353b6f04"},
		{80, "j j j", "src/greet.go old 12-12 2b6f3d10"},
		{80, "j j j V j", "src/greet.go old 12-13 2b6f3d10"},
		{80, "j j V j j", "src/greet.go old 11-13 2b6f3d10"},
		{80, "j j j V j j j", "src/greet.go new 12-13 353b6f04"},
		{80, "j j j j j j V k k", "src/greet.go new 12-13 353b6f04"},
		{80, "j j V k k k k k", "docs/guide.md new 2-4 98c00419"}, // the cursor is in another file
		{160, "j j j", "src/greet.go new 12-12 353b6f04"},
		{160, "j j j V j j", "src/greet.go new 12-14 353b6f04"},
	} {
		m := opened(t, payments(""), c.width, 50)
		press(m, "j j enter ] ] "+c.keys)
		if got := on(m); got != c.want {
			t.Errorf("%s at %d columns: %s, not %s", c.keys, c.width, got, c.want)
		}
	}
	m := opened(t, payments(""), 80, 24)
	press(m, "j j enter ] ] j j V j")
	if got := screen(m); !strings.Contains(got, "┃   11   11   // Greet") || !strings.Contains(got, "▌   12      - func Greet") {
		t.Errorf("the range is not drawn:\n%s", got)
	}
	press(m, "c")
	if got := m.form.command(); got != "cordon comments add famed-curlew src/greet.go:11-12 '' --old" {
		t.Error(got)
	}
	press(m, "esc esc")
	if m.pager.begun != 0 || m.place != onReview {
		t.Error("esc did not end the range")
	}
}

// The cursor stays on its line when the patch is laid out in another way, and what is scrolled away takes it along.
func TestCursorStays(t *testing.T) {
	m := opened(t, payments(""), 120, 24)
	press(m, "j j enter ] ] j j j j")
	screen(m)
	for range 3 {
		before := on(m)
		press(m, "|")
		screen(m)
		if got := on(m); got != before {
			t.Errorf("the cursor went from %s to %s", before, got)
		}
	}
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	for range 20 {
		m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	}
	if d := m.shown(); m.pager.sight(d) != 0 || m.pager.at >= m.pager.room {
		t.Errorf("the cursor is at %d of %d rows in sight", m.pager.at, m.pager.room)
	}
}

// The mouse puts the cursor on a line, makes a range by dragging, and opens the form at the foot.
func TestMouseComment(t *testing.T) {
	m := opened(t, payments(""), 80, 24)
	press(m, "j j enter 2")
	find := func(text string) (x, y int) {
		t.Helper()
		for y, l := range strings.Split(screen(m), "\n") {
			if i := strings.Index(l, text); i >= 0 {
				return len([]rune(l[:i])), y
			}
		}
		t.Fatalf("no %q:\n%s", text, screen(m))
		return 0, 0
	}
	x, y := find("func Greet(name string) (string")
	m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	m.Update(tea.MouseMotionMsg{X: x, Y: y + 2, Button: tea.MouseLeft})
	if got := on(m); got != "src/greet.go new 12-14 353b6f04" {
		t.Errorf("dragged over %s", got)
	}
	x, y = find("c comment")
	m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	if m.form == nil || m.form.fields[0].text != "12-14" {
		t.Errorf("%s", screen(m))
	}
}

// What cannot be seen takes a few columns, and nothing behind it is left out in silence.
func TestHiddenRun(t *testing.T) {
	hidden := strings.Repeat("\u202e", 10_000) + "evil()"
	if got := clean(look{}, hidden).text(); got != "⟨U+202E ×10000⟩evil()" {
		t.Errorf("%q", got)
	}
	if got := (half{text: hidden}).side(nil, 80, 0).text(); !strings.Contains(got, "more bytes⟩") {
		t.Errorf("%q", got)
	}
	for _, c := range clean(look{}, strings.Repeat("\u202e\n\u202d日\t", 500)) {
		if strings.ContainsAny(c.text, "\n\t") || c.width != ansi.StringWidth(c.text) {
			t.Fatalf("%+v is no cell", c)
		}
	}
}
