package session

import (
	"os"

	"cordon/internal/ledger"
	"cordon/internal/worktree"
)

// TreeOf is where a worker's files are now: all of them, or those that it changed
// where its tree is copied on write.
func (s *Session) TreeOf(w *ledger.Worker) string {
	l := w.Lease.Lease()
	switch {
	case l.Adopted:
		return l.Worktree
	case layered(w):
		return worktree.Upper(s.LayersOf(w), worktree.FilesLayer)
	}
	if frozen := s.State.Frozen(string(w.ID)); exists(frozen) {
		return frozen
	}
	return l.Worktree
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
