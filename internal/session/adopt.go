package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// adopt binds a lease to a linked worktree that another tool made. Everything
// that it holds beyond its common ancestor with the target is judged and lands
// as if the worker had done it.
func (s *Session) adopt(ctx context.Context, d Dispatch, tip git.OID, l *lease.Lease) error {
	if d.Adopt == "" {
		return nil
	}
	c, err := s.linked(ctx, d.Adopt)
	if err != nil {
		return err
	}
	if err := s.byteForByte(ctx, c); err != nil {
		return err
	}
	l.Adopted, l.Worktree = true, c.Top
	if d.Base == "" {
		l.Base, err = s.Host.MergeBase(ctx, tip, c.Head)
	}
	return err
}

// linked finds a directory among the host's linked worktrees.
func (s *Session) linked(ctx context.Context, dir string) (git.Checkout, error) {
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
			return c, refuse("--adopt %s: this is the main checkout of the repository, not a worktree linked to it", dir)
		}
		if c.Head == "" {
			return c, refuse("--adopt %s: the worktree has no commit", dir)
		}
		c.Top = real
		return c, nil
	}
	return git.Checkout{}, refuse("--adopt %s: not a linked worktree of %s (git worktree list shows them)", dir, s.Host.Top)
}

// byteForByte refuses a worktree whose files need not equal their blobs: the
// audit would take every converted file for a changed one.
func (s *Session) byteForByte(ctx context.Context, c git.Checkout) error {
	for _, key := range []string{"core.autocrlf", "core.eol"} {
		v, ok, err := s.Host.ConfigValue(ctx, key)
		if err != nil {
			return err
		}
		if ok && v != "false" && v != "input" && v != "lf" {
			return refuse("--adopt: %s=%s converts files on checkout, so they cannot be compared with the base commit: let cordon make the worktree", key, v)
		}
	}
	files, err := s.Host.Tree(ctx, c.Head)
	if err != nil {
		return err
	}
	for _, f := range files {
		if filepath.Base(f.Path) != ".gitattributes" {
			continue
		}
		text, err := s.Host.Blob(ctx, f.OID)
		if err != nil {
			return err
		}
		for _, word := range []string{"eol=crlf", "ident", "filter=", "working-tree-encoding="} {
			if attribute(string(text), word) {
				return refuse("--adopt: %s asks for %s, which converts files on checkout, so they cannot be compared with the base commit: let cordon make the worktree", f.Path, word)
			}
		}
	}
	return nil
}

func attribute(text, word string) bool {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		for i, w := range f {
			if i > 0 && !strings.HasPrefix(f[0], "#") && (w == word || strings.HasSuffix(word, "=") && strings.HasPrefix(w, word)) {
				return true
			}
		}
	}
	return false
}

// freeToAdopt refuses a worktree that a live worker has.
func (s *Session) freeToAdopt(ctx context.Context, now *ledger.Ledger, top string) error {
	for _, w := range now.Workers {
		status, err := s.Status(ctx, w)
		if err != nil {
			return err
		}
		if w.Lease.Lease().Worktree == top && status.Live() {
			return refuse("--adopt: %s is the worktree of %s, which is %s", top, w.ID, status)
		}
	}
	return nil
}

// ownGitDir is the private part of an adopted worktree in the host's git
// directory, relative to it.
func (s *Session) ownGitDir(ctx context.Context, top string) (git.Checkout, string, error) {
	c, err := s.linked(ctx, top)
	if err != nil {
		return c, "", err
	}
	rel, err := filepath.Rel(s.Host.Dir, c.GitDir)
	if err == nil && !strings.HasPrefix(rel, "worktrees"+string(os.PathSeparator)) {
		err = errors.New("the worktree's git directory is not where git keeps it")
	}
	return c, rel, err
}
