package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/remark"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/view"
)

// Review is the result of a worker for review, as cordon show --review --json prints it.
func (d Desk) Review(ctx context.Context, id string) (*view.Review, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return nil, err
	}
	return present.ReviewView(ctx, s, w, standings[w.ID])
}

// Comments are the comments on a worker's result, as cordon comments ls --json prints them.
func (d Desk) Comments(ctx context.Context, id string) (*view.Comments, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return remark.List(ctx, s.Site, w)
}

// Wait waits until something happens after an event, but no longer than most, and returns the
// workers that it is about. Without anything new, it returns none.
func (d Desk) Wait(ctx context.Context, after uint64, most time.Duration) (*view.Happened, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	log, err := journal.Open(s.State.Path())
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	follower := log.Follow(bounded, journal.Mark{Seq: after})
	events, err := follower.More()
	if err == nil && len(events) == 0 {
		events, err = follower.Next()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil // nothing happened
		}
	}
	if err != nil {
		return nil, err
	}
	v := &view.Happened{After: after, Workers: []view.Worker{}}
	var about []string
	for _, e := range events {
		v.After = max(v.After, e.Seq)
		if e.Worker != "" && !slices.Contains(about, e.Worker) {
			about = append(about, e.Worker)
		}
	}
	if len(about) == 0 {
		return v, nil
	}
	if err := settle(ctx, s, about); err != nil {
		return nil, err
	}
	all, err := present.Workers(ctx, s, present.Listing{})
	for _, w := range all {
		if slices.Contains(about, w.ID) {
			v.Workers = append(v.Workers, w)
		}
	}
	return v, err
}

// settle waits a moment for processes that have recorded the end of a worker to let it go. Until then the worker counts as
// being worked on, and whoever waits for the next event would wait for one that never comes.
func settle(ctx context.Context, s *session.Session, about []string) error {
	const rounds, pause = 50, 20 * time.Millisecond
	for range rounds {
		now, err := s.Ledger()
		if err != nil {
			return err
		}
		ends := func(id string) bool {
			w, err := now.Find(id)
			return err == nil && w.Exit != nil && s.State.Held(state.WorkerLock(id))
		}
		if !slices.ContainsFunc(about, ends) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}
