package session

import (
	"context"
	"errors"

	"cordon/internal/base"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/worktree"
)

// prepared is the base of an order's commit where a plain tree can be a snapshot of
// it, which takes no longer for a large tree, and nil elsewhere.
func (s *Session) prepared(ctx context.Context, id lease.ID, o worktree.Order) (*worktree.Prepared, error) {
	store := s.bases()
	if !store.Snapshots() {
		return nil, nil
	}
	if err := s.refuseFilters(ctx, o.Source, o.Commit); err != nil {
		return nil, err
	}
	b, err := s.base(ctx, id, o.Commit)
	return &worktree.Prepared{
		Copy:  func(to string) error { return store.Snapshot(b, to) },
		Index: b.Index, Files: b.Files, Submodules: b.Submodules,
	}, err
}

// makePlain makes a tree that is a plain directory. Where a snapshot turns out not to
// be had, git writes every file.
func (s *Session) makePlain(ctx context.Context, o worktree.Order) (worktree.Made, error) {
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

// refuseFilters refuses a commit for its attributes. The files of the one that was
// leased last are known.
func (s *Session) refuseFilters(ctx context.Context, repo git.Repo, commit git.OID) error {
	files, err := s.listed.files, error(nil)
	if s.listed.commit != commit {
		files, err = repo.Tree(ctx, commit)
	}
	if err != nil {
		return err
	}
	return worktree.RefuseFilters(ctx, repo, files)
}
