package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// decide records what somebody decided about a worker, with its lock held. A decision to merge
// that names what was seen is about the result that was audited: approved is its digest.
func (s *Session) decide(ctx context.Context, w *ledger.Worker, asked Drive) (approved string, err error) {
	if asked.Chose == "" {
		return "", nil
	}
	if s.Seen != nil && asked.Judge && w.Audit != nil {
		approved = w.Audit.Digest
	}
	return approved, s.Decide(ctx, w.ID, ledger.Decided, ledger.Decision{Choice: asked.Chose, Who: asked.Who}, false, nil)
}

// refuseOther refuses a result that is not the one that was approved.
func refuseOther(w *ledger.Worker, approved string) error {
	if approved == "" || w.Audit == nil || w.Audit.Digest == approved {
		return nil
	}
	return &fault.StaleError{What: string(w.ID), Moved: []string{"the audit found other changes in its tree than before"}}
}

// lockPatience is how long a decision that is in the journal waits for the lock of its worker.
const lockPatience = 30 * time.Second

// lockWorker takes the lock of a worker. If a decision about it was recorded here, another process may have the lock for a
// moment: one that is about to be refused because of this decision.
func (s *Session) lockWorker(ctx context.Context, id lease.ID) (release func(), err error) {
	release, err = s.State.LockWorker(string(id))
	if !errors.Is(err, state.ErrLocked) || !s.Decided(id) {
		return release, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	if release, waited := s.State.AwaitWorker(ctx, string(id)); waited == nil {
		return release, nil
	}
	return nil, err
}

// taken says why a worker that another process holds cannot be decided about.
func (s *Session) taken(ctx context.Context, id lease.ID) error {
	if err := s.StillSeen(ctx, id); err != nil {
		return err
	}
	return fmt.Errorf("%s: another cordon process is at work on it", id)
}
