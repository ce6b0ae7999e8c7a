// Package screens makes the four screens of the desk as documents: the desk, a review, plans and
// the journal. It takes the objects of package view and writes HTML.
//
// Text of a worker's is written as text nodes only, in an isolate of its own, with every character
// that cannot be seen as a chip. The package refuses to read or decide anything: it has no way to
// a file, a process or a network.
package screens

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"cordon/internal/legible"
	"cordon/internal/view"
)

//go:embed pages
var pages embed.FS

// Frame is what every screen has around it.
type Frame struct {
	Screen     string // desk, worker, plan or journal
	Repository string
	Branch     string
	Tip        string
	Journal    view.Verify
	Unconfined []string // workers without a cell that run now
	Now        time.Time
	Workers    []view.Worker
	Stages     []view.Attention
}

// Desk is the first screen.
type Desk struct{ Frame }

// Review is the screen of one worker.
type Review struct {
	Frame
	Worker     view.Worker
	Audit      *view.Audit // nil: there is none
	Files      []File
	Left       int // lines of the patch that are not shown
	NoPatch    string
	Guard      []view.Decision // those that were not allowed, or only with a warning
	Transcript string          // its end
	Earlier    bool            // the transcript has more before that
	Events     []view.Event
}

// Plans is the screen of all plans.
type Plans struct {
	Frame
	Plans []view.PlanSummary
}

// Plan is the screen of one plan.
type Plan struct {
	Frame
	Plan  view.Plan
	Graph Graph
}

// Journal is the screen of the journal.
type Journal struct {
	Frame
	Events              []view.Event // the newest first
	Worker, Type, Since string       // the filter
	Total               int          // events that pass the filter
	Before              uint64       // the next page begins before this event; 0: there is none
}

// Of are the workers of a group, in the order of the list: those that need a person longest first,
// others the newest first.
func (f Frame) Of(group string) []view.Worker {
	var list []view.Worker
	for _, w := range f.Workers {
		if w.Group == group {
			list = append(list, w)
		}
	}
	order(list, group == view.NeedsYou)
	return list
}

// Needs is how many workers and stages wait for a person.
func (f Frame) Needs() int { return len(f.Of(view.NeedsYou)) + len(f.Loose()) }

// Loose are the stages that need a person and have no worker in the list that does.
func (f Frame) Loose() []view.Attention {
	var list []view.Attention
	for _, s := range f.Stages {
		if !f.needs(s.Worker) {
			list = append(list, s)
		}
	}
	return list
}

func (f Frame) needs(worker string) bool {
	for _, w := range f.Workers {
		if w.ID == worker && w.Group == view.NeedsYou {
			return true
		}
	}
	return false
}

// Today are the workers that landed within a day, the newest first.
func (f Frame) Today() []view.Worker {
	var list []view.Worker
	for _, w := range f.Of(view.Landed) {
		if f.Now.Sub(w.Since) < 24*time.Hour {
			list = append(list, w)
		}
	}
	return list
}

// Next is the worker that needs a person after the one that is shown.
func (r Review) Next() string {
	list := r.Of(view.NeedsYou)
	for i, w := range list {
		if w.ID == r.Worker.ID && len(list) > 1 {
			return list[(i+1)%len(list)].ID
		}
	}
	if len(list) > 0 && list[0].ID != r.Worker.ID {
		return list[0].ID
	}
	return ""
}

// Violations are the findings that keep a result out.
func (r Review) Violations() []view.Finding { return r.findings("violation") }

// Notes are the findings that only say something.
func (r Review) Notes() []view.Finding { return r.findings("note") }

func (r Review) findings(class string) (list []view.Finding) {
	if r.Audit == nil {
		return nil
	}
	for _, f := range r.Audit.Findings {
		if f.Class == class {
			list = append(list, f)
		}
	}
	return list
}

// Where says where the result is.
func (r Review) Where() string {
	target := strings.TrimPrefix(r.Worker.Target, "refs/heads/")
	switch {
	case r.Worker.Status == "merged":
		return "It is part of " + target + "."
	case r.Worker.Group == view.AtWork:
		return "Nothing of it is in " + target + " yet."
	}
	return "Nothing of it is in " + target + "."
}

// Write writes a screen: a Desk, Review, Plans, Plan or Journal.
func Write(w io.Writer, screen any) error {
	t, err := templates()
	if err != nil {
		return err
	}
	switch screen.(type) {
	case Desk:
		return t.ExecuteTemplate(w, "desk", screen)
	case Review:
		return t.ExecuteTemplate(w, "review", screen)
	case Plans:
		return t.ExecuteTemplate(w, "plans", screen)
	case Plan:
		return t.ExecuteTemplate(w, "plan", screen)
	case Journal:
		return t.ExecuteTemplate(w, "journal", screen)
	}
	return fmt.Errorf("%T is no screen; this is a bug", screen)
}

var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"spans": spans, "age": age, "state": stateOf, "glyph": glyphOf, "short": short, "branch": branch, "size": size, "took": took,
		"clock": clock, "facts": factsOf, "money": money, "rail": railOf, "row": rowOf, "planstate": planState, "line": legible.Line,
		"text": func(b []byte) string { return string(b) },
		"add":  func(a, b int) int { return a + b }, "long": long,
	}).ParseFS(pages, "pages/*.html")
})

// rail is the list at the left.
type rail struct {
	Needs, Running, Landed []view.Worker
	Now                    time.Time
	Here                   string // the worker that is shown
}

func railOf(f Frame, here string) rail {
	return rail{f.Of(view.NeedsYou), f.Of(view.AtWork), f.Today(), f.Now, here}
}

// railRow is a worker in it.
type railRow struct {
	Worker view.Worker
	Line   string
	Now    time.Time
	Here   string
}

func rowOf(now time.Time, w view.Worker, here string) railRow {
	r := railRow{w, "", now, here}
	switch {
	case len(w.Questions) > 0 && w.Group == view.NeedsYou:
		r.Line = w.Questions[0].Text
	case w.Group == view.NeedsYou:
		r.Line = strings.TrimLeft(strings.TrimPrefix(w.Reason, w.Status), ":. ")
		if n := len(w.Status); len(w.Reason) > n && strings.EqualFold(w.Reason[:n], w.Status) {
			r.Line = strings.TrimLeft(w.Reason[n:], ":. ")
		}
	case w.Group == view.AtWork:
		r.Line = w.Activity
	default:
		r.Line = w.Title
	}
	r.Line = clip(r.Line)
	return r
}

// clip shortens a text for one line.
func clip(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// planState is the state of a plan in words that have a sign.
func planState(p view.PlanSummary) string {
	if p.Needs > 0 {
		return "needs"
	}
	return map[string]string{"running": "running", "done": "done", "stopped": "interrupted"}[p.State]
}
