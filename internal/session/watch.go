package session

import (
	"context"
	"errors"

	"cordon/internal/audit"
	"cordon/internal/ledger"
)

// watched runs commands that run a worker's code where no audit follows: setup in
// a tree that a worker has had, and acceptance. Changes of the host that may be
// the operator's are said. What decides what git runs, or carries the worker's
// name, is an error, whatever the commands themselves say.
func (s *Session) watched(ctx context.Context, w *ledger.Worker, act func() error) error {
	var before *audit.HostState
	since := *w
	record := func() (err error) {
		if before, err = audit.CaptureHost(ctx, s.Host, depth(w.Lease.Lease())); err != nil {
			return err
		}
		now, err := s.Ledger()
		if err == nil {
			since.StartSeq = now.Seq + 1
		}
		return err
	}
	if err := s.holdGate(ctx, record); err != nil {
		return err
	}
	err := act()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	compare := func() error { return s.refuseChanged(ctx, &since, before) }
	return errors.Join(s.holdGate(ctx, compare), err)
}

// refuseChanged compares the host with what it was when w began.
func (s *Session) refuseChanged(ctx context.Context, w *ledger.Worker, before *audit.HostState) error {
	lenient := *w
	lenient.Options.OperatorWorks = true
	after, err := audit.CaptureHost(ctx, s.Host, before.Depth())
	if err != nil {
		return err
	}
	x, err := s.expected(ctx, &lenient)
	if err != nil {
		return err
	}
	var grave []error
	for _, f := range audit.CompareHost(ctx, s.Host.Repo, before, after, x) {
		s.Voice.Step(w.ID, "host", "changed meanwhile: "+Line(f))
		if f.Class == audit.Violation {
			grave = append(grave, errors.New("the commands changed the host: "+Line(f)))
		}
	}
	return errors.Join(grave...)
}
