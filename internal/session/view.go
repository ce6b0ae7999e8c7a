package session

import (
	"context"
	"fmt"
	"io"
	"os"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
)

// Transcript opens what a worker printed.
func (s *Session) Transcript(w *ledger.Worker) (*os.File, error) {
	return os.Open(s.workerFile(w.ID, "transcript"))
}

// Evidence is one file kept with a quarantined worker.
func (s *Session) Evidence(ctx context.Context, w *ledger.Worker, name string) ([]byte, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s.gate.Evidence(ctx, w.ID, name)
}

// Diff writes everything that a worker changed as a patch.
func (s *Session) Diff(ctx context.Context, w *ledger.Worker, out io.Writer, color bool, args ...string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	from, to, err := s.ends(ctx, w)
	if err != nil {
		return err
	}
	return s.gate.Repo().Patch(ctx, out, from, to, color, args...)
}

// ends are the two commits that a worker's work lies between.
func (s *Session) ends(ctx context.Context, w *ledger.Worker) (from, to git.OID, err error) {
	base := w.Lease.Lease().Base
	if w.Quarantine != nil {
		if w.Quarantine.Result == "" {
			return "", "", fmt.Errorf("nothing of the result of %s could be stored: see cordon quarantine show %s", w.ID, w.ID)
		}
		return base, w.Quarantine.Result, nil // the journal's word: a ref can be moved
	}
	if w.Gate != nil && w.Gate.Outcome == gate.Merged {
		if w.Intent != nil {
			return w.Intent.Old, w.Intent.New, nil
		}
	}
	if w.Tree == nil || !exists(s.TreeOf(w)) {
		return "", "", fmt.Errorf("%s has no tree: there is nothing to compare", w.ID)
	}
	report, err := s.changed(ctx, w)
	if err != nil {
		return "", "", err
	}
	to, err = s.gate.Snapshot(ctx, viewName(w), base, s.TreeOf(w), report.Landing(true))
	return base, to, err
}
