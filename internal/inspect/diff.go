package inspect

import (
	"context"
	"fmt"
	"io"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// Diff writes everything that a worker changed as a patch.
func Diff(ctx context.Context, s *worksite.Site, w *ledger.Worker, out io.Writer, color bool, args ...string) error {
	if err := s.Begin(ctx); err != nil {
		return err
	}
	from, to, err := DiffEnds(ctx, s, w)
	if err != nil {
		return err
	}
	return s.Gate.Repo().Patch(ctx, out, from, to, color, args...)
}

// DiffEnds are the two commits that a worker's work lies between.
func DiffEnds(ctx context.Context, s *worksite.Site, w *ledger.Worker) (from, to git.OID, err error) {
	from = w.Began()
	if w.Quarantine != nil {
		if w.Quarantine.Result == "" {
			return "", "", fmt.Errorf("nothing of the result of %s could be stored: see cordon quarantine show %s", w.ID, w.ID)
		}
		return from, w.Quarantine.Result, nil // the journal's word: a ref can be moved
	}
	if w.Gate != nil && w.Gate.Outcome == gate.Merged {
		if w.Intent != nil {
			return w.Intent.Old, w.Intent.New, nil
		}
	}
	if w.Tree == nil || !worksite.Exists(s.TreeOf(w)) {
		return "", "", fmt.Errorf("%s has no tree: there is nothing to compare", w.ID)
	}
	report, err := changesSoFar(ctx, s, w)
	if err != nil {
		return "", "", err
	}
	to, err = s.Gate.Snapshot(ctx, viewName(w), report.Base, s.TreeOf(w), report.Landing(true))
	return from, to, err
}
