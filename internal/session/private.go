package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// The tree of a worker that is a plain directory invites people to look into it with
// their own tools, and the first of these is git. So the git directory in it is one that
// cordon made and that no worker writes: the worker's own lies beside it in cordon's
// state, shadow/ID/.git.
//
// In a strict cell the worker's is mounted over the other. A weaker cell may have no
// mounts: there the two change places for as long as a launch takes, and the one of
// cordon's making waits as shadow/ID/clean.

func (s *Session) ownGit(id lease.ID) string {
	return filepath.Join(s.State.Shadow(string(id)), ".git")
}

func (s *Session) cleanGit(id lease.ID) string {
	return filepath.Join(s.State.Shadow(string(id)), "clean")
}

// splitGit gives a new plain tree its two git directories. No worker has seen it yet.
func (s *Session) splitGit(l lease.Lease) error {
	to := s.ownGit(l.ID)
	if l.Policy.Isolation != policy.Strict {
		to = s.cleanGit(l.ID)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(filepath.Join(l.Worktree, ".git")))
}

// unshelve puts a worker's git directory into its tree, for a launch without mounts. It
// goes on where an interrupted one has stopped.
func (s *Session) unshelve(w *ledger.Worker) error {
	l, tree := w.Lease.Lease(), filepath.Join(s.TreeOf(w), ".git")
	if !s.changesPlaces(w) || !exists(s.ownGit(l.ID)) {
		return nil
	}
	if !exists(s.cleanGit(l.ID)) {
		if err := os.Rename(tree, s.cleanGit(l.ID)); err != nil {
			return err
		}
	}
	return os.Rename(s.ownGit(l.ID), tree)
}

// shelve takes it out again, and puts the one of cordon's making in its place.
func (s *Session) shelve(w *ledger.Worker) error {
	l, tree := w.Lease.Lease(), filepath.Join(s.TreeOf(w), ".git")
	if !s.changesPlaces(w) || !exists(s.cleanGit(l.ID)) {
		return nil
	}
	if !exists(s.ownGit(l.ID)) {
		err := os.Rename(tree, s.ownGit(l.ID))
		if errors.Is(err, fs.ErrNotExist) {
			// The worker removed it. The audit finds an empty directory instead, which is no
			// repository, and believes nothing.
			err = os.Mkdir(s.ownGit(l.ID), 0o700)
		}
		if err != nil {
			return err
		}
	}
	return os.Rename(s.cleanGit(l.ID), tree)
}

func (s *Session) changesPlaces(w *ledger.Worker) bool {
	l := w.Lease.Lease()
	return !l.Adopted && !layered(w) && l.Policy.Isolation != policy.Strict
}
