package keep

import (
	"context"
	"errors"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
)

// Discard throws a result away: its refs move to refs/cordon/trash and its tree
// to the trash, where both stay until gc takes them.
func Discard(ctx context.Context, s *worksite.Site, w *ledger.Worker, d ledger.Discard) error {
	if err := s.State.SpendReserve(); err != nil {
		return err
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	release, err := s.State.LockWorker(string(w.ID))
	if errors.Is(err, state.ErrLocked) {
		if err := s.StillSeen(ctx, w.ID); err != nil {
			return err
		}
		return fault.Refuse("%s is in use by another cordon process and cannot be discarded now: cordon stop %s ends it, and keeps its work", w.ID, w.ID)
	}
	if err != nil {
		return err
	}
	defer release()
	if err := s.VerifyAll(); err != nil {
		return err
	}
	if w, err = s.Find(string(w.ID)); err != nil {
		return err
	}
	if s.Seen != nil {
		if err := s.Seen(ctx, w, false); err != nil {
			return err
		}
	}
	if w.Discard != nil || w.Removal != nil {
		return fault.Refuse("%s was discarded or removed meanwhile", w.ID)
	}
	if w.Intent != nil && w.Gate == nil {
		return fault.Refuse("%s was interrupted while it landed: cordon resume %s finds out whether it did", w.ID, w.ID)
	}
	s.EndLeftovers(w.ID)
	return DiscardLocked(ctx, s, w, d)
}

// DiscardLocked throws the result of a worker away whose lock the caller holds.
func DiscardLocked(ctx context.Context, s *worksite.Site, w *ledger.Worker, d ledger.Discard) error {
	letGo, err := visitor.Exclude(s, w)
	if err != nil {
		return err
	}
	defer letGo()
	if err := s.Decide(ctx, w.ID, ledger.Discarded, d, false, nil); err != nil {
		return err
	}
	return moveToTrash(ctx, s, w)
}

// clearDiscarded finishes a discarding that was interrupted.
func clearDiscarded(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	letGo, err := visitor.Exclude(s, w)
	if err != nil {
		return err
	}
	defer letGo()
	return moveToTrash(ctx, s, w)
}

// moveToTrash moves what a worker left, at which nobody looks, to the trash. It may be
// repeated.
func moveToTrash(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	refs := s.Gate.Discard(ctx, w.ID) // where the repository's disk is full, this one is cleared all the same
	id := string(w.ID)
	dirs := []string{s.State.Layers(id), s.State.Shadow(id), s.State.Agent(id), s.State.History(id)}
	if !w.Lease.Lease().Adopted {
		dirs = append(dirs, s.State.Tree(id), s.State.Frozen(id), s.State.NewTree(id))
	}
	for _, dir := range dirs {
		if _, err := s.State.Trash(dir, s.Now()); err != nil {
			return err
		}
	}
	return errors.Join(refs, s.State.Erase(s.State.Post(id))) // nothing in it is the worker's
}
