package screens

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/legible"
	"cordon/internal/view"
)

// span is a part of a text: letters, or one character that cannot be seen.
type span struct {
	Text string
	Chip string
}

// longest is how much of one text a screen shows.
const longest = 1 << 20

// spans are the parts of a text that somebody else chose.
func spans(text any) []span {
	s := strings.ReplaceAll(fmt.Sprint(text), "\r\n", "\n")
	rest := 0
	if len(s) > longest {
		rest = len(s) - longest
		s = s[:longest]
	}
	var list []span
	var eye legible.Eye
	begin := 0
	for at := 0; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		if eye.See(s[at:at+n]) != s[at:at+n] {
			if at > begin {
				list = append(list, span{Text: s[begin:at]})
			}
			list = append(list, span{Chip: chip(r, s[at:at+n])})
			begin = at + n
		}
		at += n
	}
	if begin < len(s) {
		list = append(list, span{Text: s[begin:]})
	}
	if rest > 0 {
		list = append(list, span{Chip: fmt.Sprintf("and %d more bytes", rest)})
	}
	return list
}

// chip names a character that cannot be seen.
func chip(r rune, raw string) string {
	if r == utf8.RuneError && len(raw) == 1 {
		return fmt.Sprintf(`\x%02x`, raw[0])
	}
	return fmt.Sprintf("U+%04X", r)
}

// longLine is how much of a line a diff shows before it folds the rest.
const longLine = 2000

// long splits a line that is too long for a row. Nothing is left out: the rest is folded.
func long(s string) []string {
	if len(s) <= longLine {
		return []string{s}
	}
	at := longLine
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return []string{s[:at], s[at:]}
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

// stateOf is the word for what a worker does, as cordon ls has it.
func stateOf(w view.Worker) string {
	switch {
	case w.Group == view.NeedsYou && len(w.Questions) > 0:
		return "asks"
	case w.Silent:
		return "silent"
	}
	return w.Status
}

// Glyph is a sign and the class of its colour. It never stands without a word.
type Glyph struct{ Sign, Class string }

// glyphs are the signs of states. A state that is not here needs a look.
var glyphs = map[string]Glyph{
	"leased": {"○", "run"}, "ready": {"○", "run"}, "running": {"●", "run"}, "at the gate": {"◐", "run"}, "silent": {"◌", "hold"},
	"asks": {"?", "ask"}, "quarantined": {"⊘", "hold"}, "conflict": {"⋈", "bad"}, "failed": {"✗", "bad"}, "lost": {"✗", "bad"},
	"interrupted": {"■", "hold"}, "finished": {"◇", "hold"}, "review": {"◇", "ask"}, "waiting": {"◇", "hold"},
	"merged": {"✓", "ok"}, "no change": {"✓", "ok"}, "discarded": {"–", "quiet"},
	// of stages
	"done": {"✓", "ok"}, "skipped": {"–", "quiet"}, "needs": {"⊘", "hold"}, "blocked": {"○", "bad"},
}

func glyphOf(state string) Glyph {
	if g, ok := glyphs[state]; ok {
		return g
	}
	return Glyph{"!", "hold"}
}

// order sorts a group.
func order(list []view.Worker, oldestFirst bool) {
	slices.SortStableFunc(list, func(a, b view.Worker) int {
		if oldestFirst {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
}

// Fact is one of the six things that a reader wants to know first.
type Fact struct{ Name, Value, More, Class string }

// factsOf are the facts of a worker, always the same six in the same order.
func factsOf(w view.Worker) []Fact {
	return []Fact{auditFact(w), acceptanceFact(w), cellFact(w), guardFact(w), networkFact(w), baseFact(w)}
}

func auditFact(w view.Worker) Fact {
	switch {
	case w.Audit == nil:
		return Fact{"Audit", "Not yet", "nothing is judged", ""}
	case w.Audit.Summary.Violations > 0:
		return Fact{"Audit", fmt.Sprintf("✗ %d out", w.Audit.Summary.Violations), fmt.Sprintf("%d may land", w.Audit.Summary.Landing), "bad"}
	}
	return Fact{"Audit", "✓ clean", fmt.Sprintf("%d may land", w.Audit.Summary.Landing), "ok"}
}

func acceptanceFact(w view.Worker) Fact {
	if w.Gate == nil || len(w.Gate.Checks) == 0 {
		return Fact{"Acceptance", "Not run", "no command ran", ""}
	}
	for _, c := range w.Gate.Checks {
		if c.Code != 0 {
			return Fact{"Acceptance", "✗ failed", fmt.Sprintf("ended with %d", c.Code), "bad"}
		}
	}
	return Fact{"Acceptance", "✓ passed", plural(len(w.Gate.Checks), "command"), "ok"}
}

func cellFact(w view.Worker) Fact {
	switch {
	case len(w.Layers) > 0:
		return Fact{"Cell", "✓ held", plural(len(w.Layers), "layer") + " proven", "ok"}
	case w.Exit == nil && w.PID == 0:
		return Fact{"Cell", "Not started", "", ""}
	}
	return Fact{"Cell", "None", "nothing held it", "bad"}
}

func guardFact(w view.Worker) Fact {
	switch {
	case w.Guard == nil:
		return Fact{"Guard", "No calls", "nothing was judged", ""}
	case w.Guard.Denied > 0:
		return Fact{"Guard", fmt.Sprintf("%d denied", w.Guard.Denied), "of " + plural(w.Guard.Calls, "call"), "hold"}
	}
	return Fact{"Guard", "✓ none denied", "of " + plural(w.Guard.Calls, "call"), ""}
}

func networkFact(w view.Worker) Fact {
	switch {
	case w.Net == nil:
		return Fact{"Network", "Not used", "", ""}
	case w.Net.Refused > 0:
		return Fact{"Network", fmt.Sprintf("%d refused", w.Net.Refused), fmt.Sprintf("%d allowed", w.Net.Allowed), "hold"}
	}
	return Fact{"Network", fmt.Sprintf("%d allowed", w.Net.Allowed), "none refused", ""}
}

func baseFact(w view.Worker) Fact {
	more := "at " + w.BaseShort
	if w.Status == "conflict" {
		return Fact{"Base", "⋈ conflict", plural(w.Behind, "commit") + " behind", "bad"}
	}
	if w.Behind == 0 {
		return Fact{"Base", "Up to date", more, ""}
	}
	return Fact{"Base", fmt.Sprintf("%d behind", w.Behind), more, ""}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
