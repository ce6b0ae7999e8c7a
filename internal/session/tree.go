package session

import (
	"os"

	"cordon/internal/ledger"
)

// TreeOf is where a worker's tree is now.
func (s *Session) TreeOf(w *ledger.Worker) string {
	l := w.Lease.Lease()
	if l.Adopted {
		return l.Worktree
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
