package session

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
)

// auditWithRoom does not look at a result while there is no room to.
func (s *Session) auditWithRoom(ctx context.Context, w *ledger.Worker, how *progress) error {
	if err := s.State.Room(); err != nil {
		return waitForRoom(w, err)
	}
	return s.audit(ctx, w, how)
}

// audit looks at what a worker left and records the verdict.
func (s *Session) audit(ctx context.Context, w *ledger.Worker, how *progress) error {
	how.audited = true
	return inspect.Audit(ctx, s.Site, w)
}

// waitForRoom is an end for want of a disk that takes what is written. Nothing is known
// of the result that could be held against it, so it is neither merged nor
// quarantined.
func waitForRoom(w *ledger.Worker, err error) error {
	return fmt.Errorf("%w: %s stays as it is; when there is room, cordon resume or merge %s", err, w.ID, w.ID)
}

// noRoom recognises an error that is about the disk, ours or git's.
func (s *Session) noRoom(err error) bool {
	if err == nil {
		return false
	}
	for _, e := range []error{unix.ENOSPC, unix.EDQUOT, unix.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	failed, ok := errors.AsType[*git.Error](err)
	return ok && failed.NoRoom() || s.State.Room() != nil
}
