package main

import (
	"context"
	"errors"

	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
	"cordon/internal/launch"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// reached prints what a worker tried to reach.
func (a *app) reached(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	shown := view.Network{Worker: string(w.ID), Decisions: []view.Attempt{}}
	t, err := s.Reached(w, func(r record.Record) { shown.Decisions = append(shown.Decisions, present.AttemptView(r)) })
	if err != nil {
		return err
	}
	if a.json {
		shown.Tally = *present.TallyView(&t)
		return a.object(&shown)
	}
	altered, err := s.Altered(ctx, w, t)
	if err != nil {
		return err
	}
	a.page().Reached(w, shown.Decisions, t, altered)
	return nil
}

// suggest prints what a worker was refused as lines for its policy.
func (a *app) suggest(s *session.Session, w *ledger.Worker) error {
	t, err := s.Reached(w, nil)
	if err != nil {
		return err
	}
	return a.page().Suggestion(w, t)
}

// sayReached tells at the end of a run what the worker tried to reach, and what to
// write into the policy to let the rest pass.
func (a *app) sayReached(s *session.Session, before, after *ledger.Worker) {
	t := launch.TriedSince(s.Site, before)
	if t == nil {
		return
	}
	a.page().Tally(before, *t)
	names, ports := present.Suggestion(*t)
	if after != nil && after.Quarantine != nil && len(names)+len(ports) > 0 {
		a.say("  (the worker chose these, and it is in quarantine: allow only what you know)")
	}
}

// sayUnreached tells of a command that failed what it may have missed: a worker's, or
// the one of setup that err is about.
func (a *app) sayUnreached(before, w *ledger.Worker, err error) {
	hint, p := "", before.Lease.Lease().Policy
	var setup *launch.SetupError
	switch {
	case errors.As(err, &setup):
		hint = cellnet.Unreached(p, setup.Layers, setup.Exit)
	case err == nil && w.Start != nil && w.Exit != nil:
		hint = cellnet.Unreached(p, w.Start.Layers, *w.Exit)
	}
	if hint != "" {
		a.say("  %s", hint)
	}
}
