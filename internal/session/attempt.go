package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/wording"
	"cordon/internal/worksite"
)

// startsAnew reports whether a worker in this state goes on with another attempt: its
// result was judged or merged in vain, or the operator sends it back with a comment.
func startsAnew(status ledger.Status, commented bool) bool {
	switch status {
	case ledger.InQuarantine, ledger.Conflicted:
		return true
	case ledger.InReview, ledger.WaitingFor, ledger.NoChange:
		return commented
	}
	return false
}

// nextAttempt begins another attempt of a worker whose result was judged, and runs it. The
// evidence of the attempt before is stored first. The new one has the same rights and starts
// in a fresh repository that holds the part inside the lease and nothing else of the worker's. A
// tree that was adopted stays as it is: it belongs to another tool.
func (s *Session) nextAttempt(ctx context.Context, w *ledger.Worker, status ledger.Status, how Drive) (*ledger.Worker, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	if err := s.VerifyAll(); err != nil {
		return nil, err
	}
	release, err := s.State.LockWorker(string(w.ID))
	if errors.Is(err, state.ErrLocked) {
		return nil, s.taken(ctx, w.ID)
	}
	if err != nil {
		return nil, err
	}
	s.EndLeftovers(w.ID)
	err = s.beginAttempt(ctx, w, status, how)
	release()
	if err != nil {
		return nil, err
	}
	how.Command, how.Prompt, how.Remarks = nil, "", Remarks{} // the journal has them
	return s.Continue(ctx, w.ID, how)
}

func (s *Session) beginAttempt(ctx context.Context, w *ledger.Worker, status ledger.Status, how Drive) error {
	if err := refuseAttempt(w, status); err != nil {
		return err
	}
	found := s.WrongWith(w)
	stored, err := s.storedResult(ctx, w)
	if err != nil {
		return err
	}
	if err := s.Gate.KeepAttempt(ctx, w.ID, w.Attempts+1); err != nil {
		return err
	}
	l := w.Lease.Lease()
	carried, begins := gate.Carried{Origin: l.Base, Base: l.Base}, "the adopted tree as it is"
	if !l.Adopted {
		if carried, err = s.Gate.Carry(ctx, l, stored, status == ledger.Conflicted, w.Lease.Rules(), w.Conflicts); err != nil {
			return fmt.Errorf("%s cannot go on: %w", w.ID, err)
		}
		begins = "a fresh tree at " + carried.Origin.Short() + " with the part inside the lease"
	}
	l.Base = carried.Base
	sealed, err := dispatch.Renew(ctx, s.Site, l)
	if err != nil {
		return err
	}
	data := ledger.Attempt{
		Lease: sealed.Bytes(), Hash: sealed.Hash(), Who: how.Who, Origin: carried.Origin, Conflicts: carried.Conflicts, Command: how.Command,
		Feedback: s.feedback(ctx, w, found, carried, how), Review: how.Remarks.Text != "", Inherited: inherited(found), Message: wording.SoFar(ctx, s.Site, w),
	}
	if status != ledger.Conflicted && w.Origin != "" {
		data.Origin = w.Origin
	}
	// A release that did not land may have named more than the first lease.
	roots := strings.Join(l.Policy.Filesystem.WriteRoots, ", ")
	s.Voice.Step(w.ID, "attempt", fmt.Sprintf("%d: %s; it may write %s", w.Attempts+2, begins, roots))
	return s.Decide(ctx, w.ID, ledger.Attempted, data, false, unchanged(w))
}

// refuseAttempt refuses a worker that cannot or must not be tried again.
func refuseAttempt(w *ledger.Worker, status ledger.Status) error {
	l, most := w.Lease.Lease(), w.Lease.Lease().Policy.Gate.Attempts
	switch {
	case l.Adopted && status == ledger.Conflicted:
		branch := strings.TrimPrefix(l.Target, "refs/heads/")
		return fault.Refuse("%s conflicts with %s, and its worktree was adopted: cordon does not merge into a worktree of another tool. cordon discard %s "+
			"leaves it there; then git -C %s merge %s and start another worker in it", w.ID, branch, w.ID, l.Worktree, branch)
	case w.Attempts >= most:
		return fault.Refuse("%s has had %s after the first, and its policy allows no more (gate.attempts: %d)", w.ID, worksite.Count(w.Attempts, "attempt"), most)
	case w.Quarantine != nil && w.Audit == nil, w.Quarantine != nil && w.Quarantine.Causes == nil && w.Gate == nil:
		return fault.Refuse("nobody knows what %s did, so it cannot go on: look with cordon quarantine show %s", w.ID, w.ID)
	}
	return nil
}

// storedResult is what a worker left, as a commit on its base. What was not quarantined is
// stored like a quarantined result first.
func (s *Session) storedResult(ctx context.Context, w *ledger.Worker) (git.OID, error) {
	if w.Quarantine != nil {
		return s.quarantinedResult(ctx, w)
	}
	report, err := s.Report(w)
	if err != nil {
		return "", err
	}
	m, err := s.Gate.Quarantine(ctx, gate.Evidence{
		Lease: w.Lease, Reasons: []string{"another attempt was asked for"}, Report: report, Gate: w.Gate,
		Top: s.TreeOf(w), Frozen: s.frozenPlace(w), Layers: s.LayersOf(w), History: s.HistoryRepo(w),
		Transcript: s.WorkerFile(w.ID, "transcript"), Now: s.Now(),
	})
	if err == nil && m.Result == "" {
		err = fmt.Errorf("the result of %s could not be stored: %v", w.ID, m.Missing)
	}
	return m.Result, err
}

// inherited are the faults that no later attempt removes: what was done to the host, and what
// ran without a guard.
func inherited(found []Wrong) (list []ledger.Doubt) {
	for _, x := range found {
		if x.Cause != ledger.ChangedHost && x.Cause != ledger.UnprovenGuard {
			continue
		}
		for _, line := range x.Lines {
			list = append(list, ledger.Doubt{Cause: x.Cause, Line: line})
		}
	}
	return list
}

// unchanged refuses a decision about a worker of which something happened since.
func unchanged(before *ledger.Worker) func(*ledger.Ledger) error {
	return func(now *ledger.Ledger) error {
		w, err := now.Find(string(before.ID))
		if err == nil && w.Events != before.Events {
			err = fault.Refuse("%s was decided about meanwhile%s", before.ID, decidedBy(w))
		}
		return err
	}
}

// putAsideAttempt moves what the attempt before left on the disk to the trash. The worker's
// processes have ended, and its result is in the evidence.
func (s *Session) putAsideAttempt(w *ledger.Worker) error {
	id := string(w.ID)
	for _, dir := range []string{s.State.Frozen(id), s.State.Tree(id), s.State.Layers(id), s.State.Shadow(id), s.State.History(id)} {
		if _, err := s.State.Trash(dir, s.Now()); err != nil {
			return err
		}
	}
	return nil
}
