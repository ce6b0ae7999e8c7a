package supervisor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
)

// Outcome is what became of a request to stop a worker.
type Outcome string

// The outcomes.
const (
	Stopped Outcome = "stopped"     // its supervisor ended the command and closed its books
	Killed  Outcome = "killed"      // its supervisor did not react and was ended with it
	Idle    Outcome = "not running" // nobody worked on it
)

// books is how long a supervisor may take to record what it ended, beyond the grace.
const books = 30 * time.Second

// Stop ends a worker: it asks the command to end through its supervisor, which ends the
// command when the grace is over, and waits for the supervisor. What the worker wrote
// stays. The site has begun.
func Stop(ctx context.Context, s *worksite.Site, w *ledger.Worker, asked ledger.Stop) (Outcome, error) {
	awaitBeginning(ctx, s, w)
	p, err := find(s, w.ID)
	if err != nil {
		return "", err
	}
	if p == nil {
		return Idle, endLeftovers(s, w)
	}
	defer p.close()
	// On a full disk it is stopped all the same, with the usual grace.
	recorded := s.Decide(ctx, w.ID, ledger.StopAsked, asked, true, nil)
	if _, stale := errors.AsType[*fault.StaleError](recorded); stale {
		return "", recorded
	}
	// A supervisor that was suspended has to go on before it can react.
	if err := errors.Join(ignoreGone(p.signal(syscall.SIGTERM)), ignoreGone(p.signal(syscall.SIGCONT))); err != nil {
		return "", fmt.Errorf("%s: signal its supervisor: %w", w.ID, err)
	}
	if p.awaitEnd(ctx, asked.Grace+books) {
		return Stopped, recorded
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := ignoreGone(p.signal(syscall.SIGKILL)); err != nil {
		return "", fmt.Errorf("%s: end its supervisor: %w", w.ID, err)
	}
	p.awaitEnd(ctx, books)
	return Killed, errors.Join(recorded, endLeftovers(s, w))
}

// find is the process that works on a worker, or that will as soon as it can.
func find(s *worksite.Site, id lease.ID) (*process, error) {
	p, err := holder(filepath.Join(s.State.Path(), state.WorkerLock(string(id))))
	if p != nil || err != nil {
		return p, err
	}
	return holder(console(s, id))
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// endLeftovers ends what a worker left running whose supervisor was killed. Somebody who
// looks at what it left is not among that.
func endLeftovers(s *worksite.Site, w *ledger.Worker) error {
	now, err := s.Find(string(w.ID))
	if err != nil || now.Start == nil || now.Exit != nil || visitor.Visited(s, now) {
		return err
	}
	release, err := s.State.LockWorker(string(w.ID))
	if errors.Is(err, state.ErrLocked) {
		return nil // somebody took it on meanwhile, and has ended them
	}
	if err != nil {
		return err
	}
	defer release()
	s.EndLeftovers(w.ID)
	return nil
}
