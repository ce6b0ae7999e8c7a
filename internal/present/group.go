package present

import (
	"fmt"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// GroupOf says what a worker needs. A state that is not known here needs a person.
func GroupOf(w *ledger.Worker, now worksite.Standing) string {
	switch now.Status {
	case ledger.MergedIn, ledger.NoChange:
		return view.Landed
	case ledger.ThrownAway:
		return view.Over
	}
	switch {
	case w.Removal != nil:
		return view.Over
	case !now.Held || now.Status == ledger.Running && len(w.Open()) > 0 || now.Status == ledger.WaitingFor:
		return view.NeedsYou
	}
	return view.AtWork
}

// fillGroup says what a worker needs, since when, what it does, and what to type next.
func fillGroup(s *worksite.Site, w *ledger.Worker, now worksite.Standing, v *view.Worker) {
	v.Group, v.Since, v.Next = GroupOf(w, now), w.Changed, Commands(w, now.Status)
	switch {
	case v.Group == view.NeedsYou && len(w.Open()) > 0:
		v.Since = w.Open()[0].At
		if now.Held {
			v.Next = Commands(w, ledger.Asking)[:1]
		}
	case now.Status == ledger.Asking: // it has its answer
		v.Next = []string{"cordon resume " + v.ID}
	case now.Status == ledger.Lost:
		v.Since = v.LastSign
	case now.Held && now.Status == ledger.WaitingFor:
		v.Next = []string{"cordon stop " + v.ID}
	case v.Group == view.AtWork:
		v.Next = []string{"cordon logs -f " + v.ID, "cordon stop " + v.ID}
	}
	if now.Held {
		v.Activity = activity(s, w, now.Status)
		_, v.Silent = s.Silent(w, now)
	}
}

// waitsToLand is said of a result with which a cordon process waits.
const waitsToLand = "lands by itself when nothing is in the way"

// activity is what a worker does now. Words of the worker's may be in it.
func activity(s *worksite.Site, w *ledger.Worker, status ledger.Status) string {
	switch {
	case w.Tree == nil:
		return "making the worktree"
	case w.Away != nil && w.Away.Return == nil && (w.Away.Grant == nil || s.LastLine(w.ID) == ""):
		if all, err := s.Ledger(); err == nil {
			return legible.Line(s.WhereAway(all, w))
		}
	case w.Start == nil && w.Away == nil:
		return "preparing the start"
	case status == ledger.Gating && w.Audit == nil:
		return "audit"
	case status == ledger.Gating:
		return "at the gate"
	case status == ledger.WaitingFor:
		return waitsToLand
	}
	text := ""
	s.LastDecision(w.ID, func(r guard.Record) {
		if r.Event == "" && r.Time.After(w.StartTime) {
			text = strings.TrimSpace(r.Tool + " " + r.Input)
		}
	})
	if text == "" {
		text = s.LastLine(w.ID)
	}
	return terminal.Clip(legible.Line(text), titleColumns)
}

// Doing is a word for the state of a worker in a list: that of its status, unless a
// running one asks or is silent.
func Doing(v view.Worker) string {
	switch {
	case v.Group == view.NeedsYou && len(v.Questions) > 0 && v.Status == string(ledger.Running):
		return string(ledger.Asking)
	case v.Silent:
		return "silent"
	}
	return v.Status
}

// Why is the reason for a state without the word for it, or what a worker asks.
func Why(v view.Worker) string {
	if v.Group == view.NeedsYou && len(v.Questions) > 0 {
		text := terminal.Clip(legible.Line(v.Questions[0].Text), titleColumns)
		if more := len(v.Questions) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more: cordon inbox)", more)
		}
		return text
	}
	if n := len(v.Status); len(v.Reason) > n && strings.EqualFold(v.Reason[:n], v.Status) {
		return strings.TrimLeft(v.Reason[n:], ":. ")
	}
	return v.Reason
}
