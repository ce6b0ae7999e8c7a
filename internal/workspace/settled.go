package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// settleAfter is how long a command works before its tree is written to the disk. The kernel has done most of that by
// then.
const settleAfter = 30 * time.Second

// prepared records a tree that was made. Nobody has waited for the disk: Torn finds out what a reset took.
func prepared(s *worksite.Site, w *ledger.Worker, made ledger.Tree) error {
	made.Boot = state.Boot()
	return s.Append(w.ID, ledger.Prepared, made)
}

// Torn reports whether the machine stopped before a worker's tree was on the disk. Files that cordon put there may be
// empty, and look as if the worker had emptied them.
func Torn(s *worksite.Site, w *ledger.Worker) bool {
	return w.Tree != nil && w.Tree.Boot != "" && w.Tree.Boot != state.Boot() && !isSettled(s, w)
}

// Unsaved reports whether the machine stopped after the command of a worker had ended, and before anybody had looked
// at what it left: some of that may not have reached the disk.
func Unsaved(w *ledger.Worker) bool {
	return w.Exit != nil && w.Audit == nil && w.Start.Boot != "" && w.Start.Boot != state.Boot()
}

// SettleLater brings a worker's tree to the disk when its command has worked for a while.
func SettleLater(ctx context.Context, s *worksite.Site, w *ledger.Worker) {
	select {
	case <-ctx.Done():
	case <-time.After(settleAfter):
		Settle(s, w)
	}
}

// Settle brings a worker's tree to the disk.
func Settle(s *worksite.Site, w *ledger.Worker) {
	if w.Tree.Boot == "" || isSettled(s, w) {
		return
	}
	if errors.Join(writeOut(s.State.Path()), writeOut(w.Lease.Lease().Worktree)) == nil {
		_ = worksite.WriteSynced(settledFile(s, w), []byte(settledMark(w))) // without it, a reset costs the work of this run
	}
}

func isSettled(s *worksite.Site, w *ledger.Worker) bool {
	have, err := os.ReadFile(settledFile(s, w))
	return err == nil && string(have) == settledMark(w)
}

func settledFile(s *worksite.Site, w *ledger.Worker) string {
	return filepath.Join(s.State.Worker(string(w.ID)), "settled")
}

// settledMark tells the trees of one worker apart: each attempt has its own.
func settledMark(w *ledger.Worker) string { return strconv.FormatUint(w.TreeSeq, 10) }
