// Package fill reads what the desk in the terminal shows from a repository: it asks the functions that the
// commands ask. It refuses to change anything: it has no way to a decision.
package fill

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"cordon/internal/conduct"
	"cordon/internal/desk"
	"cordon/internal/deskread"
	"cordon/internal/deskterm"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Source is a repository as the desk shows it.
type Source struct {
	mu     sync.Mutex // one question at a time: they share what was read of the journal
	s      *session.Session
	health deskread.Health

	reading sync.Mutex       // one result at a time, beside the screens
	results *session.Session // reads them, because a session is for one reader; nil: none was read yet
}

// New is the source of a repository.
func New(s *session.Session) (*Source, error) { return &Source{s: s}, s.Follow() }

// Changes tells when something was appended to the journal.
func (f *Source) Changes(ctx context.Context) (<-chan struct{}, error) {
	return deskread.Changes(ctx, f.s)
}

// Desk is the first screen.
func (f *Source) Desk(ctx context.Context) (*deskterm.Desk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := deskread.HeadingOf(ctx, f.s)
	if err != nil {
		return nil, err
	}
	d := &deskterm.Desk{Repository: h.Repository, Branch: h.Branch, Tip: h.Tip, Workers: h.Workers, Stages: h.Stages, Unconfined: h.Unconfined, Home: h.Home}
	if d.Plans, err = f.plans(ctx, func(r *ledger.PlanRun) bool { return r.Closed == nil }); err != nil {
		return nil, err
	}
	events, err := f.s.Events()
	if err != nil {
		return nil, err
	}
	d.Recent = newest(events, mostRecent)
	d.Machine = deskread.MachineOf(f.s.State.Path())
	d.Machine.Count(d.Workers, f.s.Now())
	d.Journal, err = f.health.Known(f.s)
	return d, err
}

// How many events the screens have.
const (
	mostRecent = 20
	mostEvents = 5000
)

func newest(events []journal.Event, most int) (list []view.Event) {
	for _, e := range slices.Backward(events) {
		if len(list) == most {
			break
		}
		list = append(list, view.Event(e))
	}
	return list
}

// Journal verifies the journal, and reads its newest events.
func (f *Source) Journal(context.Context) (*deskterm.Journal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sound, err := f.health.Check(f.s)
	if err != nil {
		return nil, err
	}
	events, err := f.s.Events()
	if err != nil && sound.Sound {
		return nil, err
	}
	return &deskterm.Journal{Verify: sound, Events: newest(events, mostEvents), More: max(0, len(events)-mostEvents)}, nil
}

// Fleet are the nodes of the fleet. Another program is asked, and nobody waits for it.
func (f *Source) Fleet(ctx context.Context) (*view.Fleet, error) { return deskread.FleetOf(ctx, f.s) }

// Plans are all plans, the newest first.
func (f *Source) Plans(ctx context.Context) ([]view.Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plans(ctx, func(*ledger.PlanRun) bool { return true })
}

func (f *Source) plans(ctx context.Context, wanted func(*ledger.PlanRun) bool) (list []view.Plan, err error) {
	all, err := conduct.Reports(ctx, f.s.Site, wanted)
	for _, r := range slices.Backward(all) {
		list = append(list, *present.PlanView(r, f.s.State.Held(conduct.LockName(r.Run.Plan))))
	}
	return list, err
}

// Review is one worker with its result. Nothing else waits while a large result is read.
func (f *Source) Review(ctx context.Context, name string) (*deskterm.Review, error) {
	r, err := f.Verdict(ctx, name)
	if err != nil {
		return nil, err
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.results == nil {
		s, err := session.Open(ctx, cmp.Or(f.s.Host.Top, f.s.Host.Dir))
		if err != nil {
			return nil, err
		}
		if err := s.Follow(); err != nil {
			return nil, err
		}
		f.results = s
	}
	w, err := f.results.Find(name)
	if err != nil {
		return nil, err
	}
	r.Result, err = deskread.ResultOf(ctx, f.results, w, r.Changes)
	r.Partial = false
	return r, err
}

// beingRead stands for what is not there yet.
const beingRead = "It is being read."

// Verdict is one worker without its result.
func (f *Source) Verdict(ctx context.Context, name string) (*deskterm.Review, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.s.Find(name)
	if err != nil {
		return nil, err
	}
	standings, err := f.s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return nil, err
	}
	v, err := present.ReviewView(ctx, f.s, w, standings[w.ID])
	if err != nil {
		return nil, err
	}
	r := &deskterm.Review{Review: *v, Partial: true, Result: desk.Result{NoPatch: beingRead, Transcript: beingRead}}
	if w.Agent != nil {
		r.Client = w.Agent.Client
		if w.Wiring != nil {
			r.Client += " " + w.Wiring.Version
		}
	}
	if w.Stream != nil {
		r.Cost = w.Stream.Cost
	}
	return r, nil
}
