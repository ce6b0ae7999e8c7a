// Package deskread reads from a repository what the desks in the terminal and in the browser both show:
// it asks the functions that the commands ask. It refuses to change anything, and it knows neither
// how a desk draws nor who may look.
package deskread

import (
	"context"
	"path/filepath"
	"time"

	"cordon/internal/conduct"
	"cordon/internal/journal"
	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Heading is what every screen has around it.
type Heading struct {
	Repository, Branch, Tip string
	Workers                 []view.Worker
	Stages                  []view.Attention // of plans, that need a person
	Unconfined              []string         // workers without a cell that run now
	Home                    bool             // the repository is the home of a fleet
}

// HeadingOf reads the heading of a repository.
func HeadingOf(ctx context.Context, s *session.Session) (h Heading, err error) {
	h.Repository, h.Home = filepath.Base(s.Host.Top), HasFleet(s)
	if h.Workers, err = present.Workers(ctx, s, present.Listing{}); err != nil {
		return h, err
	}
	if ref, err := s.Host.HeadBranch(ctx); err == nil && ref != "" {
		h.Branch = present.Branch(ref)
		if tip, err := s.Host.Ref(ctx, ref); err == nil {
			h.Tip = tip.Short()
		}
	}
	stages, err := conduct.Attention(ctx, s.Site)
	if err != nil {
		return h, err
	}
	h.Stages = present.Each(stages, present.AttentionView)
	h.Unconfined, err = Unconfined(s)
	return h, err
}

// Unconfined are the workers that run now and have no cell: they can do what the operator can.
func Unconfined(s *session.Session) (list []string, err error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	for _, w := range l.Workers {
		if w.Removal == nil && w.Lease.Lease().Policy.Isolation == policy.None && s.RunningElsewhere(w) {
			list = append(list, string(w.ID))
		}
	}
	return list, nil
}

// Health is whether the journal is sound. The zero value has not looked yet.
type Health struct {
	known *view.Verify
	at    time.Time
}

// recheck is for how long a journal that was verified whole counts as sound. Events that come meanwhile are
// verified as they are read.
const recheck = time.Minute

// Check verifies the whole journal.
func (h *Health) Check(s *session.Session) (view.Verify, error) {
	if !s.State.Exists() {
		return view.Verify{Sound: true}, nil
	}
	r, err := journal.Verify(s.State.Path())
	v := view.Verify{Events: r.Events, Last: r.Head, Torn: r.Torn, Sound: r.Problem == nil}
	if r.Problem != nil {
		damage := view.Damage(*r.Problem)
		v.Problem = &damage
	}
	if err == nil {
		h.known, h.at = &v, s.Now()
	}
	return v, err
}

// Known is what Check said last, if that was a moment ago and nothing speaks against it.
func (h *Health) Known(s *session.Session) (view.Verify, error) {
	if h.known == nil || !h.known.Sound || s.Now().Sub(h.at) > recheck {
		return h.Check(s)
	}
	events, err := s.Events()
	if err != nil || len(events) == 0 {
		return h.Check(s)
	}
	v := *h.known
	v.Events, v.Last, v.Torn = len(events), events[len(events)-1].Hash, false
	return v, nil
}

// Changes tells when something was appended to the journal, and once more a moment later: a process lets a worker go after it
// has recorded the worker's last event, and nothing tells of that.
func Changes(ctx context.Context, s *session.Session) (<-chan struct{}, error) {
	if !s.State.Exists() {
		return make(chan struct{}), nil // there is nothing yet; desks look again now and then
	}
	changes, err := journal.Changes(ctx, s.State.Path())
	if err != nil {
		return nil, err
	}
	told := make(chan struct{}, 1)
	go echo(changes, told)
	return told, nil
}

// settled is how long after the last event desks look again.
const settled = 500 * time.Millisecond

// echo passes changes on, and tells of each group of them a second time. It ends with them.
func echo(changes <-chan struct{}, told chan<- struct{}) {
	defer close(told)
	var later <-chan time.Time
	for {
		select {
		case _, more := <-changes:
			if !more {
				return
			}
			later = time.After(settled)
		case <-later:
			later = nil
		}
		select {
		case told <- struct{}{}:
		default: // it is told already
		}
	}
}
