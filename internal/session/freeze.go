package session

import (
	"context"

	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// freeze moves the tree of a quarantined worker away from where its processes
// knew it. An adopted worktree belongs to another tool and stays; its result is
// in the refs.
func (s *Session) freeze(w *ledger.Worker) step {
	l := w.Lease.Lease()
	if l.Adopted || !worksite.Exists(l.Worktree) || worksite.Exists(s.State.Frozen(string(w.ID))) {
		return nil
	}
	return func(ctx context.Context, w *ledger.Worker, how *progress) error {
		s.EndLeftovers(w.ID)
		return s.State.Freeze(string(w.ID))
	}
}
