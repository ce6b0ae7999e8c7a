package session

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/gate"
	"cordon/internal/keep"
	"cordon/internal/ledger"
)

// Repair carries a plan out. Every step may be interrupted: the next repair finds what
// is left to do.
func (s *Session) Repair(ctx context.Context, r *keep.Repair, who string) error {
	s.Repairing = true
	defer func() { s.Repairing = false }()
	if err := keep.RepairJournal(ctx, s.Site, r, who); err != nil {
		return err
	}
	return s.storeResults(ctx, r)
}

// storeResults stores the results of quarantined workers that the repair has touched, now
// or before it was interrupted.
func (s *Session) storeResults(ctx context.Context, r *keep.Repair) error {
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	for _, w := range now.Workers {
		q := w.Quarantine
		if t := r.Traces[w.ID]; q == nil || w.Release != nil || w.Discard != nil || w.Removal != nil || q.Evidence != "" || t == nil {
			continue
		} else if err := s.storeResult(ctx, w, t); err != nil {
			return fmt.Errorf("%s: %w", w.ID, err)
		}
		if _, err := s.Continue(ctx, w.ID, Drive{}); err != nil { // to freeze its tree
			return fmt.Errorf("%s: %w", w.ID, err)
		}
	}
	return nil
}

// storeResult gives a worker in quarantine the result that refs hold, or stores its tree as
// one. A result that is in the target branch has landed, whatever was recorded.
func (s *Session) storeResult(ctx context.Context, w *ledger.Worker, t *keep.Trace) error {
	release, err := s.State.LockWorker(string(w.ID))
	if err != nil {
		return err
	}
	defer release()
	target := w.Lease.Lease().Target
	if commit := t.Refs["results"]; commit != "" {
		if landed, err := s.Ancestor(ctx, commit, target); err != nil || landed {
			return errors.Join(err, s.Append(w.ID, ledger.Judged, gate.Result{Outcome: gate.Merged, Target: target, Commit: commit}))
		}
	}
	if evidence := t.Refs["quarantine/evidence"]; evidence != "" {
		return s.Append(w.ID, ledger.Quarantined, ledger.Quarantine{
			Reasons: w.Quarantine.Reasons, Result: t.Refs["quarantine/result"], History: t.Refs["quarantine/history"], Evidence: evidence,
		})
	}
	if !t.Tree {
		return nil
	}
	how := progress{unknown: errors.New(w.Quarantine.Reasons[0])}
	if err := s.audit(ctx, w, &how); err != nil {
		return err
	}
	if w, err = s.Find(string(w.ID)); err != nil {
		return err
	}
	return s.quarantine(ctx, w, &how)
}
