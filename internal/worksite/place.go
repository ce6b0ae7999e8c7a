package worksite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// Linked finds a directory among the host's linked worktrees.
func (s *Site) Linked(ctx context.Context, dir string) (git.Checkout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return git.Checkout{}, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return git.Checkout{}, err
	}
	all, err := s.Host.Checkouts(ctx)
	if err != nil {
		return git.Checkout{}, err
	}
	for _, c := range all {
		real, err := filepath.EvalSymlinks(c.Top)
		if err != nil || real != abs {
			continue
		}
		if !c.Linked {
			return c, fault.Refuse("--adopt %s: this is the main checkout of the repository, not a worktree linked to it", dir)
		}
		if c.Head == "" {
			return c, fault.Refuse("--adopt %s: the worktree has no commit", dir)
		}
		c.Top = real
		return c, nil
	}
	return git.Checkout{}, fault.Refuse("--adopt %s: not a linked worktree of %s (git worktree list shows them)", dir, s.Host.Top)
}

// AcceptLayers is where acceptance commands write privately.
func (s *Site) AcceptLayers(id lease.ID) string { return s.State.Layers(string(id) + ".accept") }

// EndLeftovers ends what an earlier launch of a worker left running.
func (s *Site) EndLeftovers(id lease.ID) int {
	return cell.EndMarked(cell.Mark+"="+string(id), cell.Place+"="+filepath.Base(s.State.Path()))
}

// Layered reports whether a worker's tree is copied on write.
func Layered(w *ledger.Worker) bool { return w.Lease.Lease().Tree == lease.Layered }

// TreeGone says why a worker cannot go on in its tree, or "".
func (s *Site) TreeGone(w *ledger.Worker) string {
	fi, err := os.Lstat(s.TreeOf(w))
	if err != nil || !fi.IsDir() {
		return fmt.Sprintf("the worktree of %s is gone: nothing is left to resume (cordon discard %s)", w.ID, w.ID)
	}
	return ""
}

// GitDir is where a worker's repository lies on the host.
func (s *Site) GitDir(w *ledger.Worker) string {
	switch {
	case Layered(w):
		return worktree.Upper(s.LayersOf(w), worktree.GitLayer)
	case w.Lease.Lease().Adopted || Exists(s.OwnGit(w.ID)):
		return s.OwnGit(w.ID)
	}
	return filepath.Join(s.TreeOf(w), ".git") // it runs in a weaker cell, or was made by an older cordon
}

// LayersOf is where what a worker wrote outside its tree is kept.
func (s *Site) LayersOf(w *ledger.Worker) string { return s.State.Layers(string(w.ID)) }

// RunningElsewhere reports whether a worker may be running now, started by another process than
// this one.
func (s *Site) RunningElsewhere(w *ledger.Worker) bool {
	return w.Exit == nil && s.State.Held(state.WorkerLock(string(w.ID)))
}

// SharesGit reports whether a worker commits into the host's own repository: in a
// linked worktree that was adopted without a cell.
func (s *Site) SharesGit(w *ledger.Worker) bool {
	return w.Lease.Lease().Adopted && !Exists(s.State.Shadow(string(w.ID)))
}

// HistoryRepo is where history left the worker's commits.
func (s *Site) HistoryRepo(w *ledger.Worker) git.Repo {
	if s.SharesGit(w) {
		return s.Host.Repo
	}
	return git.OpenBare(s.Bin, s.State.History(string(w.ID)), s.Host.Format)
}

// The tree of a worker that is a plain directory invites people to look into it with
// their own tools, and the first of these is git. So the git directory in it is one that
// cordon made and that no worker writes: the worker's own lies beside it in cordon's
// state, shadow/ID/.git.
//
// In a strict cell the worker's is mounted over the other. A weaker cell may have no
// mounts: there the two change places for as long as a launch takes, and the one of
// cordon's making waits as shadow/ID/clean.

// OwnGit is the git directory of a worker with a plain or an adopted tree.
func (s *Site) OwnGit(id lease.ID) string {
	return filepath.Join(s.State.Shadow(string(id)), ".git")
}

// CleanGit is where the git directory of cordon's making waits during a launch.
func (s *Site) CleanGit(id lease.ID) string {
	return filepath.Join(s.State.Shadow(string(id)), "clean")
}

// UsedGit names a file in the git directory of cordon's making which shows that a person worked with git
// in a plain tree; "" if there is none. No audit looks there.
func (s *Site) UsedGit(w *ledger.Worker) (string, error) {
	l, dir := w.Lease.Lease(), filepath.Join(s.TreeOf(w), ".git")
	if l.Adopted || Layered(w) || dir == s.GitDir(w) {
		return "", nil
	}
	return gitfile.Used(dir, "refs/heads/"+l.Branch, string(l.Base))
}

// TreeOf is where a worker's files are now: all of them, or those that it changed
// where its tree is copied on write.
func (s *Site) TreeOf(w *ledger.Worker) string {
	l := w.Lease.Lease()
	switch {
	case l.Adopted:
		return l.Worktree
	case Layered(w):
		return worktree.Upper(s.LayersOf(w), worktree.FilesLayer)
	}
	if frozen := s.State.Frozen(string(w.ID)); Exists(frozen) {
		return frozen
	}
	return l.Worktree
}
