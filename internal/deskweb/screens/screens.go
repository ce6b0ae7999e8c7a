// Package screens makes the screens of the desk as documents: the desk, a review, plans, the journal
// and a fleet. It takes the objects of package view and writes HTML.
//
// Text of a worker's is written as text nodes only, in an isolate of its own, with every character
// that cannot be seen as a chip. The package refuses to read or decide anything: it has no way to
// a file, a process or a network.
package screens

import (
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/desk"
	"cordon/internal/legible"
	"cordon/internal/view"
)

//go:embed pages
var pages embed.FS

// Frame is what every screen has around it.
type Frame struct {
	Screen     string // desk, worker, plan, journal or fleet
	Repository string
	Branch     string
	Tip        string
	Journal    view.Verify
	Unconfined []string // workers without a cell that run now
	ReadOnly   bool     // nothing can be decided here
	NoScript   bool     // the page is whole, and no script changes it
	Now        time.Time
	Workers    []view.Worker
	Stages     []view.Attention
	Home       bool // the repository is the home of a fleet
}

// Desk is the first screen.
type Desk struct{ Frame }

// Review is the screen of one worker.
type Review struct {
	Frame
	desk.Result
	Worker view.Worker
	Case   view.Review // the verdict and what it rests on
	Steps  []Step      // the end of the transcript
	Forms  []Form      // what can be decided
	Whole  bool        // with all rows of all files
}

// firstRows is how many rows of files a review begins with. Its page asks for the others when it is on the screen.
const firstRows = 2000

// Leaves reports whether the rows of a file are left out at first. All files count whose rows come before.
func (r Review) Leaves(file int) bool {
	n := 0
	for _, f := range r.Files[:file+1] {
		n += len(f.Rows)
	}
	return !r.Whole && n > firstRows
}

// HasSeen reports whether the content of a file was marked as seen.
func (r Review) HasSeen(f desk.File) bool { return slices.Contains(r.Seen, f.Content()) }

// SeenFiles is how many files were marked as seen.
func (r Review) SeenFiles() (n int) {
	for _, f := range r.Files {
		if r.HasSeen(f) {
			n++
		}
	}
	return n
}

// Noted is a comment where it is shown.
type Noted struct {
	view.Comment
	Now      time.Time
	ReadOnly bool
	Anchor   string // of its file; empty: the patch does not show it
}

func (r Review) noted(c view.Comment) Noted {
	return Noted{c, r.Now, r.ReadOnly, anchor(r.Files, c.Path)}
}

// At are the comments that end at a row of a file.
func (r Review) At(f desk.File, row desk.Row) (list []Noted) {
	for _, c := range r.Comments {
		if endsAt(c, f, row) {
			list = append(list, r.noted(c))
		}
	}
	return list
}

// endsAt reports whether a comment ends at a row of a file.
func endsAt(c view.Comment, f desk.File, row desk.Row) bool {
	line := row.New
	if c.Side == view.SideOld {
		line = row.Old
	}
	return !c.Outdated && string(c.Path) == f.Name && c.To == line && line > 0
}

// Apart are the comments on lines that the patch does not show.
func (r Review) Apart() (list []Noted) {
	for _, c := range r.Comments {
		shown := slices.ContainsFunc(r.Files, func(f desk.File) bool {
			return slices.ContainsFunc(f.Rows, func(row desk.Row) bool { return endsAt(c, f, row) })
		})
		if !shown {
			list = append(list, r.noted(c))
		}
	}
	return list
}

// Unsent is how many comments go along when the result is sent back.
func (r Review) Unsent() (n int) {
	for _, c := range r.Comments {
		if c.Sent == nil {
			n++
		}
	}
	return n
}

// Form is a choice, and what a person has to say with it.
type Form struct {
	view.Choice
	Key      string // chooses it
	Question *view.Question
	Widen    []Root // paths that a release can add to the lease
}

// Asks reports whether a choice needs some words.
func (f Form) Asks(words string) bool { return slices.Contains(f.Needs, words) }

// Root is a path that a release can add to the lease.
type Root struct {
	Path  string
	Grave string // why it has to be typed a second time; empty: it has not
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

// Fleet is the screen of a fleet's nodes.
type Fleet struct {
	Frame
	Fleet view.Fleet
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
	desk.Order(list, group == view.NeedsYou)
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

// Others are the changes that the patch does not show.
func (r Review) Others() (list []view.Change) {
	for _, c := range r.Case.Changes {
		if anchor(r.Files, c.Path) == "" {
			list = append(list, c)
		}
	}
	return list
}

// anchor is the name of the place that shows the file at a path; empty: none does.
func anchor(files []desk.File, path view.Text) string {
	for i, f := range files {
		if f.Name == string(path) {
			return fmt.Sprintf("f%d", i)
		}
	}
	return ""
}

// Write writes a screen: a Desk, Review, Plans, Plan, Journal or Fleet.
func Write(w io.Writer, screen any) error {
	p := presses.Get().(*press)
	defer presses.Put(p)
	if p.err != nil {
		return p.err
	}
	p.chips, p.marked = mostChips, mostMarked
	t := p.t
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
	case Fleet:
		return t.ExecuteTemplate(w, "fleet", screen)
	}
	return fmt.Errorf("%T is no screen; this is a bug", screen)
}

// presses have the templates, each with functions of its own: what they count is of one page.
var presses = sync.Pool{New: func() any {
	p := new(press)
	p.t, p.err = template.New("").Funcs(template.FuncMap{
		"parts": p.parts, "age": age, "state": desk.State, "glyph": desk.GlyphOf, "short": short, "branch": branch, "size": size,
		"took": took, "language": languageOf, "lines": p.lines, "anchor": anchor, "coded": codeRowOf,
		"clock": clock, "fact": factOf, "money": money, "rail": railOf, "row": rowOf, "planstate": planState, "stage": stageGlyph, "line": legible.Line,
		"bytes": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"text":  func(b []byte) string { return string(b) },
		"add":   func(a, b int) int { return a + b },
	}).ParseFS(pages, "pages/*.html")
	return p
}}

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

// stageGlyph is the sign of a stage. One that waits for others needs nobody.
func stageGlyph(state string) desk.Glyph {
	if state == "waiting" {
		return desk.Glyph{Sign: "○", Class: "quiet"}
	}
	return desk.GlyphOf(state)
}
