package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cordon/internal/audit"
	"cordon/internal/confine"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// splitGit gives a new plain tree its two git directories. No worker has seen it yet. The
// index of the one of cordon's making has the submodules as not in the tree: git would
// enter their directories, and the worker can put a repository there. (The setting
// diff.ignoreSubmodules does not do: the worker's .gitmodules outranks it.)
func splitGit(ctx context.Context, s *worksite.Site, l lease.Lease, made worktree.Made) error {
	own := filepath.Join(l.Worktree, ".git")
	clean, to := own, s.OwnGit(l.ID)
	if l.Policy.Isolation != policy.Strict {
		clean, to = s.CleanGit(l.ID), s.CleanGit(l.ID)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(own)); err != nil {
		return err
	}
	if err := overruleConfig(filepath.Join(clean, "config")); err != nil || len(made.Submodules) == 0 {
		return err
	}
	return git.OpenBare(s.Bin, clean, s.Host.Format).Conceal(ctx, git.Checkout{Top: l.Worktree, GitDir: clean}, made.Submodules)
}

// overruleConfig adds settings to a configuration of cordon's making that go before the
// operator's own: a relative core.hooksPath of theirs would mean files of the worker's.
func overruleConfig(config string) error {
	f, err := plainfile.Open(config, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.WriteString("[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n")
	return errors.Join(err, f.Close())
}

// MoveRepositoriesAside moves repositories aside that a worker left in its plain tree: a person who looks
// around there enters them, and git would run what their configuration says. The audit has
// seen them before; those in the places of submodules and outside of ignored ones have the
// result quarantined.
func MoveRepositoriesAside(s *worksite.Site, w *ledger.Worker) {
	if w == nil || w.Tree == nil || w.Lease.Lease().Adopted || worksite.Layered(w) || w.Audit == nil || !worksite.Exists(s.TreeOf(w)) {
		return
	}
	if w.Quarantine == nil && w.Audit.Verdict != audit.VerdictClean {
		return // it will be
	}
	tree := s.TreeOf(w)
	sweep := worktree.Sweep{Known: []string{filepath.Join(tree, ".git")}, Aside: filepath.Join(s.State.Worker(string(w.ID)),
		s.Now().UTC().Format("aside-20060102T150405.000"))}
	if w.Quarantine == nil { // repositories among the files of the base are as they were
		files, err := s.FilesOf(context.Background(), w.Lease.Lease().Base)
		if err != nil {
			s.Voice.Step(w.ID, "CAREFUL", "its tree was not searched for repositories: "+fault.OneLine(err))
			return
		}
		sweep.Known = append(sweep.Known, unchangedRepositories(tree, files)...)
	}
	every, _, err := s.Bin.Settings(context.Background())
	if err != nil {
		s.Voice.Step(w.ID, "CAREFUL", "its tree was not searched for repositories: "+fault.OneLine(err))
		return
	}
	sweep.Obeyed = confine.ObeyedAnywhere(every, []string{tree})
	sweep.Directory(tree)
	for _, b := range sweep.Blind {
		s.Voice.Step(w.ID, "CAREFUL", "not searched for repositories: "+b)
	}
	for _, m := range sweep.Moved {
		s.Voice.Step(w.ID, "disarmed", fmt.Sprintf("moved %s aside to %s: %s", m.From, m.To, m.Why))
	}
	if n := sweep.MoreMoved + sweep.MoreBlind; n > 0 {
		s.Voice.Step(w.ID, "CAREFUL", fmt.Sprintf("%d more were moved aside or not searched", n))
	}
}

// unchangedRepositories lists the directories of a tree that hold a HEAD of the base commit, and nothing
// that the base does not have: ignored files of the worker's beside a HEAD can make a
// repository of it, and the audit lets ignored files pass.
func unchangedRepositories(tree string, base []git.File) []string {
	has := map[string]bool{}
	for _, f := range base {
		for p := f.Path; p != "." && !has[p]; p = path.Dir(p) {
			has[p] = true
		}
	}
	var list []string
	for _, f := range base {
		if path.Base(f.Path) != "HEAD" {
			continue
		}
		dir := filepath.Join(tree, filepath.FromSlash(path.Dir(f.Path)))
		if holdsOnly(tree, dir, has) {
			list = append(list, dir)
		}
	}
	return list
}

// holdsOnly reports whether everything in a directory of a tree is among paths of the tree,
// but for the git directory of cordon's making.
func holdsOnly(tree, dir string, has map[string]bool) bool {
	own := filepath.Join(tree, ".git")
	return filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == tree {
			return err
		}
		if p == own && e.IsDir() {
			return filepath.SkipDir
		}
		if rel, err := filepath.Rel(tree, p); err != nil || !has[filepath.ToSlash(rel)] {
			return fs.ErrExist // something of the worker's
		}
		return nil
	}) == nil
}

// PutGitBack puts a worker's git directory into its tree, for a launch without mounts. It
// goes on where an interrupted one has stopped.
func PutGitBack(s *worksite.Site, w *ledger.Worker) error {
	l, tree := w.Lease.Lease(), filepath.Join(s.TreeOf(w), ".git")
	if !changesPlaces(w) || !worksite.Exists(s.OwnGit(l.ID)) {
		return nil
	}
	if !worksite.Exists(s.CleanGit(l.ID)) {
		if err := os.Rename(tree, s.CleanGit(l.ID)); err != nil {
			return err
		}
	}
	return os.Rename(s.OwnGit(l.ID), tree)
}

// TakeGitOut takes it out again, and puts the one of cordon's making in its place.
func TakeGitOut(s *worksite.Site, w *ledger.Worker) error {
	l, tree := w.Lease.Lease(), filepath.Join(s.TreeOf(w), ".git")
	if !changesPlaces(w) || !worksite.Exists(s.CleanGit(l.ID)) {
		return nil
	}
	if !worksite.Exists(s.OwnGit(l.ID)) {
		err := os.Rename(tree, s.OwnGit(l.ID))
		if errors.Is(err, fs.ErrNotExist) {
			// The worker removed it. The audit finds an empty directory instead, which is no
			// repository, and believes nothing.
			err = os.Mkdir(s.OwnGit(l.ID), 0o700)
		}
		if err != nil {
			return err
		}
	}
	return os.Rename(s.CleanGit(l.ID), tree)
}

func changesPlaces(w *ledger.Worker) bool {
	l := w.Lease.Lease()
	return !l.Adopted && !worksite.Layered(w) && l.Policy.Isolation != policy.Strict
}
