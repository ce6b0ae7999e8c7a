package screens

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"cordon/internal/desk"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// longest is how much of one text a screen shows.
const longest = 1 << 20

// mostChips and mostMarked are how many characters that cannot be seen, and how many parts of lines, a page has as elements of
// their own. A worker chooses both.
const (
	mostChips  = 20_000
	mostMarked = 100_000
)

// press writes one page at a time.
type press struct {
	t             *template.Template
	err           error
	chips, marked int // left for the page
}

// parts are those of a text that somebody else chose. When the page has too many chips, the whole text is one.
func (p *press) parts(text any) []legible.Part {
	s := fmt.Sprint(text)
	rest := max(0, len(s)-longest)
	s = s[:len(s)-rest]
	list := legible.Parts(s)
	for _, part := range list {
		if part.Chip != "" {
			p.chips--
		}
	}
	if p.chips < 0 && len(list) > 1 {
		list = []legible.Part{{Chip: legible.Text(s)}}
	}
	if rest > 0 {
		list = append(list, legible.Part{Chip: fmt.Sprintf("and %d more bytes", rest)})
	}
	return list
}

// lines are the parts of a line of one side of a row. When the page has too many, the line is shown as it is.
func (p *press) lines(g *desk.Language, line, other string, changed bool) []linePart {
	list := lineParts(g, line, other, changed)
	if p.marked -= len(list); p.marked < 0 {
		return lineParts(nil, line, "", false)
	}
	return list
}

// age is how long ago something was, in one unit.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func short(oid string) string { return oid[:min(8, len(oid))] }

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func money(d float64) string { return fmt.Sprintf("$%.2f", d) }

func took(ns int64) string { return time.Duration(ns).Round(10 * time.Millisecond).String() }

// size is a number of bytes for a person.
func size(n int64) string {
	unit := []string{"B", "kB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for ; f >= 1000 && i < len(unit)-1; i++ {
		f /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, unit[i])
}

// Fact is one of the six facts of a review, in two lines.
type Fact struct{ Name, Value, More, Class, Sign string }

// factOf splits a fact at its first comma: what comes first is what a reader looks for.
func factOf(f view.Fact) Fact {
	value, more, _ := strings.Cut(f.Text, ", ")
	shown := Fact{Name: f.Name, Value: value, More: more}
	switch f.State {
	case view.FactGood:
		shown.Class, shown.Sign = "ok", "✓"
	case view.FactBad:
		shown.Class, shown.Sign = "bad", "✗"
	case view.FactNote:
		shown.Class = "hold"
	}
	return shown
}
