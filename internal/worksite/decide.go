package worksite

import (
	"context"
	"errors"
	"time"

	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// Decide writes an event that is a decision, if Seen and check allow it. Seen is asked
// once: what follows from a decision is no other.
func (s *Site) Decide(ctx context.Context, id lease.ID, typ string, data any, held bool, check func(*ledger.Ledger) error) error {
	err := s.AppendIf(id, typ, data, func(now *ledger.Ledger) error {
		w, err := now.Find(string(id))
		if err == nil && s.Seen != nil {
			err = s.Seen(ctx, w, held)
		}
		if err == nil && check != nil {
			err = check(now)
		}
		return err
	})
	if err == nil {
		s.Seen, s.decided = nil, id
	}
	return err
}

// Decided reports whether a decision about a worker was recorded here.
func (s *Site) Decided(id lease.ID) bool { return s.decided == id }

// StillSeen refuses a decision about a worker that is not as the operator saw it, before
// anything is done for it; Decide asks again. If a process has just begun to work on the
// worker, this waits until the journal names whoever decided that.
func (s *Site) StillSeen(ctx context.Context, id lease.ID) error {
	const rounds, pause = 50, 20 * time.Millisecond
	for i := 0; s.Seen != nil; i++ {
		w, err := s.Find(string(id))
		if err != nil {
			return err
		}
		held := s.State.Held(state.WorkerLock(string(id)))
		err = s.Seen(ctx, w, held)
		stale, ok := errors.AsType[*fault.StaleError](err)
		if !ok || stale.Known || !held || i == rounds {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// Watching adds an observer of every append to the journal.
func (s *Site) Watching(observe func(journal.Moment, journal.Event)) {
	if s.log != nil {
		s.log.Watch(observe)
		return
	}
	before := s.Watch
	s.Watch = func(m journal.Moment, e journal.Event) {
		if before != nil {
			before(m, e)
		}
		observe(m, e)
	}
}
