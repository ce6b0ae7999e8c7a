package desk

import (
	"cmp"
	"slices"
	"strings"

	"cordon/internal/view"
)

// State is the word for what a worker does, as cordon ls has it.
func State(w view.Worker) string {
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
	// of nodes
	"draining": {"◐", "hold"}, "removed": {"–", "quiet"},
	// of stages
	"done": {"✓", "ok"}, "skipped": {"–", "quiet"}, "needs": {"⊘", "hold"}, "blocked": {"○", "bad"},
}

// GlyphOf is the sign of a state.
func GlyphOf(state string) Glyph {
	if g, ok := glyphs[state]; ok {
		return g
	}
	return Glyph{"!", "hold"}
}

// Order sorts a group: those that need a person longest first, others the newest first.
func Order(list []view.Worker, oldestFirst bool) {
	slices.SortStableFunc(list, func(a, b view.Worker) int {
		if oldestFirst {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
}

// Why is the reason for a state without the word for it, what a worker asks, or what it does.
func Why(w view.Worker) string {
	switch {
	case w.Group == view.NeedsYou && len(w.Questions) > 0:
		return w.Questions[0].Text
	case w.Group == view.AtWork:
		return cmp.Or(w.Activity, w.Title)
	case w.Group != view.NeedsYou:
		return w.Title
	}
	if n := len(w.Status); len(w.Reason) > n && strings.EqualFold(w.Reason[:n], w.Status) {
		return strings.TrimLeft(w.Reason[n:], ":. ")
	}
	return w.Reason
}
