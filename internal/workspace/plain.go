package workspace

import (
	"context"
	"errors"

	"cordon/internal/base"
	"cordon/internal/lease"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// snapshotSource is the base of an order's commit where a plain tree can be a snapshot of
// it, which takes no longer for a large tree, and nil elsewhere.
func snapshotSource(ctx context.Context, s *worksite.Site, id lease.ID, o worktree.Order) (*worktree.Prepared, error) {
	store := s.BaseStore()
	if !store.Snapshots() {
		return nil, nil
	}
	b, err := s.BaseOf(ctx, id, o.Commit)
	return &worktree.Prepared{
		Copy:  func(to string) error { return store.Snapshot(b, to) },
		Index: b.Index, Files: b.Files, Submodules: b.Submodules,
	}, err
}

// makePlain makes a tree that is a plain directory. Where a snapshot turns out not to
// be had, git writes every file.
func makePlain(ctx context.Context, s *worksite.Site, o worktree.Order) (worktree.Made, error) {
	made, err := worktree.Make(ctx, o)
	if !errors.Is(err, base.ErrNoSnapshot) {
		return made, err
	}
	if err := s.State.Erase(o.Partial); err != nil {
		return worktree.Made{}, err
	}
	o.From = nil
	return worktree.Make(ctx, o)
}
