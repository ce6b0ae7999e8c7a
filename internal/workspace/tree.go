// Package workspace makes the tree of a worker (a copy on write, a plain directory, or one
// that was adopted) and the merged tree for acceptance commands, and says which cell goes
// around each. It keeps the git directory of a plain tree apart while no worker runs.
//
// It refuses to start anything in a tree: that is up to package launch.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/fill"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// prepareAdopted gives a worker in a checkout of another tool's a repository of
// its own: the host's is not written.
func prepareAdopted(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	l := w.Lease.Lease()
	if l.Policy.Isolation != policy.None {
		c, err := s.Linked(ctx, l.Worktree)
		if err != nil {
			return err
		}
		branch := strings.TrimPrefix(c.Branch, "refs/heads/")
		if branch == "" {
			branch = l.Branch
		}
		dir := s.State.Shadow(string(l.ID))
		if err := s.State.Erase(dir); err != nil { // no worker has seen it
			return err
		}
		unseen, err := hiddenFiles(ctx, s, w.Lease)
		if err != nil {
			return err
		}
		_, err = worktree.MakeShadow(ctx, worktree.ShadowOrder{
			Bin: s.Bin, Host: s.Host, GitDir: c.GitDir, Alternate: s.State.Objects(),
			Commit: c.Head, Branch: branch, Dir: dir, Unseen: unseen,
		})
		if err != nil {
			return err
		}
	}
	return prepared(s, w, ledger.Tree{})
}

// MakeTree makes a worker's tree, of the kind that its lease names.
func MakeTree(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	l, id := w.Lease.Lease(), string(w.ID)
	switch {
	case l.Adopted:
		return prepareAdopted(ctx, s, w)
	case worksite.Layered(w):
		return prepareLayered(ctx, s, w)
	}
	for _, dir := range []string{s.State.NewTree(id), s.State.Shadow(id)} { // no worker has seen them
		if err := s.State.Erase(dir); err != nil {
			return err
		}
	}
	if err := s.State.Drop(s.State.Tree(id), s.Now()); err != nil {
		return err
	}
	plan, err := fillWorker(ctx, s, w)
	if err != nil {
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	made, took, err := preparePlain(ctx, s, w, plan.Into)
	if err == nil {
		err = splitGit(ctx, s, l, made)
	}
	if err == nil {
		err = recordFilled(s, w.ID, plan, &made)
	}
	if err != nil {
		// git does not always say that the disk is full, and the unfinished tree
		// may be what fills it.
		err = errors.Join(Refused(err), s.State.Room(), s.State.Erase(s.State.NewTree(id)))
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	s.Voice.Step(w.ID, "worktree", describeMade(made, took)+describeFilled(plan))
	return prepared(s, w, made)
}

// preparePlain makes a worker's tree as a plain directory. The time is without that
// of a base that others share.
func preparePlain(ctx context.Context, s *worksite.Site, w *ledger.Worker, into worktree.Fill) (worktree.Made, time.Duration, error) {
	l, id := w.Lease.Lease(), string(w.ID)
	o := worktree.Order{
		Bin: s.Bin, Host: s.Host, Source: s.Host.Repo, Alternate: s.State.Objects(),
		Commit: l.Base, Branch: l.Branch, Partial: s.State.NewTree(id), Path: l.Worktree,
		Progress: func(done, total int) { s.Voice.Files(w.ID, done, total) },
		Hidden:   w.Lease.Rules().Unseen, Fill: into,
	}
	var err error
	if o.Unseen, err = hiddenFiles(ctx, s, w.Lease); err != nil {
		return worktree.Made{}, 0, err
	}
	if o.From, err = snapshotSource(ctx, s, w.ID, o); err != nil {
		return worktree.Made{}, 0, err
	}
	began := s.Now()
	made, err := makePlain(ctx, s, o)
	return made, s.Now().Sub(began), err
}

func describeMade(m worktree.Made, took time.Duration) string {
	text := fmt.Sprintf("%d files, a repository of its own, %.1f s", m.Files, took.Seconds())
	switch {
	case m.Base != "":
		text = fmt.Sprintf("%s copied on write, a repository of its own, %d ms", worksite.Count(m.Files, "file"), took.Milliseconds())
	case m.Snapshot:
		text = fmt.Sprintf("a snapshot of %s, a repository of its own, %d ms", worksite.Count(m.Files, "file"), took.Milliseconds())
	}
	if n := len(m.Included); n > 0 {
		text += fmt.Sprintf("; %s by .worktreeinclude", worksite.Count(n, "file"))
	}
	return text
}

// describeFilled says what a tree was filled with.
func describeFilled(p fill.Plan) (text string) {
	if n := len(p.Modules); n > 0 {
		text += fmt.Sprintf("; %s filled from this repository", worksite.Count(n, "submodule"))
	}
	if n := len(p.Content); n > 0 {
		text += fmt.Sprintf("; %s of Git LFS", worksite.Count(n, "file"))
	}
	return text
}
