// Package fill makes the screens of the desk from a repository: it asks the functions that the
// commands ask, and gives the same objects to package screens. What the page decides goes to
// package decide, which runs the command that the page showed; what it notes goes to package remark.
// It refuses to act for the page while a worker runs that could use the page as the operator.
package fill

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/conduct"
	"cordon/internal/deskread"
	"cordon/internal/deskweb"
	"cordon/internal/deskweb/screens"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Source is a repository as the desk shows it.
type Source struct {
	mu     sync.Mutex // one screen at a time: they share what was read of the journal
	s      *session.Session
	health deskread.Health

	who string // the operator, as notes name them
	how Options
}

// Options are how the operator opened the desk.
type Options struct {
	Trust    bool // the page decides also while workers without a cell run
	NoScript bool // the pages are whole, and only read
}

// New is the source of a repository for an operator.
func New(s *session.Session, who string, how Options) (*Source, error) {
	return &Source{s: s, who: who, how: how}, s.Follow()
}

// Changes tells when something was appended to the journal.
func (f *Source) Changes(ctx context.Context) (<-chan struct{}, error) {
	return deskread.Changes(ctx, f.s)
}

// Screen writes the screen of a path.
func (f *Source) Screen(ctx context.Context, w io.Writer, path string, query url.Values) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	frame, err := f.frame(ctx)
	if err != nil {
		return err
	}
	kind, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	var shown any
	switch {
	case kind == "" && name == "":
		frame.Screen = "desk"
		shown = screens.Desk{Frame: frame}
	case kind == "worker":
		frame.Screen = "worker"
		shown, err = f.review(ctx, frame, name, frame.NoScript || query.Get("rows") == "all")
	case kind == "plan" && name == "":
		frame.Screen = "plan"
		shown, err = f.plans(ctx, frame)
	case kind == "plan":
		frame.Screen = "plan"
		shown, err = f.plan(ctx, frame, name)
	case kind == "journal" && name == "":
		frame.Screen = "journal"
		shown, err = f.journal(frame, query)
	case kind == "fleet" && name == "" && frame.Home:
		frame.Screen = "fleet"
		shown, err = f.fleet(ctx, frame)
	default:
		return deskweb.ErrNoScreen
	}
	if err != nil {
		return err
	}
	return screens.Write(w, shown)
}

// frame is what all screens have.
func (f *Source) frame(ctx context.Context) (screens.Frame, error) {
	h, err := deskread.HeadingOf(ctx, f.s)
	if err != nil {
		return screens.Frame{}, err
	}
	fr := screens.Frame{
		Repository: h.Repository, Branch: h.Branch, Tip: h.Tip, Workers: h.Workers, Stages: h.Stages, Unconfined: h.Unconfined, Home: h.Home, Now: time.Now(),
	}
	fr.NoScript = f.how.NoScript
	fr.ReadOnly = fr.NoScript || len(fr.Unconfined) > 0 && !f.how.Trust
	fr.Journal, err = f.health.Known(f.s)
	return fr, err
}

func (f *Source) review(ctx context.Context, fr screens.Frame, name string, whole bool) (r screens.Review, err error) {
	w, err := f.s.Find(name)
	if _, unknown := errors.AsType[ledger.NameError](err); unknown || err == nil && string(w.ID) != name {
		return r, deskweb.ErrNoScreen
	}
	if err != nil {
		return r, err
	}
	standings, err := f.s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return r, err
	}
	judged, err := present.ReviewView(ctx, f.s, w, standings[w.ID])
	if err != nil {
		return r, err
	}
	r = screens.Review{Frame: fr, Worker: present.WorkerView(f.s, w, standings[w.ID]), Case: *judged, Forms: forms(*judged), Whole: whole}
	r.Result, err = deskread.ResultOf(ctx, f.s, w, judged.Changes)
	if r.Steps = screens.Steps(r.Transcript); r.Worker.Client == nil && r.Transcript != "" {
		r.Steps = []screens.Step{{Kind: "said", Text: r.Transcript}} // what a command prints has no steps
	}
	return r, err
}

func (f *Source) fleet(ctx context.Context, fr screens.Frame) (screens.Fleet, error) {
	nodes, err := deskread.FleetOf(ctx, f.s)
	if err != nil {
		return screens.Fleet{}, err
	}
	return screens.Fleet{Frame: fr, Fleet: *nodes}, nil
}

func (f *Source) plans(ctx context.Context, fr screens.Frame) (screens.Plans, error) {
	all, err := conduct.Reports(ctx, f.s.Site, func(*ledger.PlanRun) bool { return true })
	shown := screens.Plans{Frame: fr}
	for _, report := range slices.Backward(all) {
		shown.Plans = append(shown.Plans, present.PlanSummaryView(report, f.s.State.Held(conduct.LockName(report.Run.Plan))))
	}
	return shown, err
}

func (f *Source) plan(ctx context.Context, fr screens.Frame, name string) (screens.Plan, error) {
	all, err := conduct.Reports(ctx, f.s.Site, func(r *ledger.PlanRun) bool { return r.Plan == name })
	if err != nil {
		return screens.Plan{}, err
	}
	if len(all) == 0 {
		return screens.Plan{}, deskweb.ErrNoScreen
	}
	v := present.PlanView(all[len(all)-1], f.s.State.Held(conduct.LockName(name)))
	return screens.Plan{Frame: fr, Plan: *v, Graph: screens.Draw(*v)}, nil
}

// mostEvents is how many events a screen of the journal has.
const mostEvents = 200

func (f *Source) journal(fr screens.Frame, q url.Values) (screens.Journal, error) {
	j := screens.Journal{Frame: fr, Worker: q.Get("worker"), Type: q.Get("type"), Since: q.Get("since")}
	since, err := time.ParseInLocation(time.DateOnly, j.Since, time.Local)
	if err != nil {
		j.Since, since = "", time.Time{}
	}
	before, _ := strconv.ParseUint(q.Get("before"), 10, 64)
	if j.Journal, err = f.health.Check(f.s); err != nil {
		return j, err
	}
	events, err := f.s.Events()
	if err != nil && j.Journal.Sound {
		return j, err
	}
	for _, e := range slices.Backward(events) {
		if !strings.HasPrefix(e.Worker, j.Worker) || !strings.Contains(e.Type, j.Type) || e.Time.Before(since) {
			continue
		}
		j.Total++
		switch {
		case before > 0 && e.Seq >= before:
		case len(j.Events) < mostEvents:
			j.Events = append(j.Events, view.Event(e))
		case j.Before == 0:
			j.Before = j.Events[len(j.Events)-1].Seq
		}
	}
	return j, nil
}
