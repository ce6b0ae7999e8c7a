package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// Adopt binds a lease to a linked worktree that another tool made. Everything
// that it holds beyond its common ancestor with the target is judged and lands
// as if the worker had done it.
func Adopt(ctx context.Context, s *worksite.Site, dir string, l *lease.Lease) (git.Checkout, error) {
	c, err := s.Linked(ctx, dir)
	if err != nil {
		return c, err
	}
	for _, check := range []func() error{
		func() error { return notTarget(c, l.Target) },
		func() error { return refuseSparse(ctx, s, c) },
		func() error { return refuseConversions(ctx, s, c) },
	} {
		if err := check(); err != nil {
			return c, err
		}
	}
	l.Adopted, l.Worktree = true, c.Top
	return c, nil
}

// notTarget refuses a worktree on the branch that the result is for: a commit
// made there would move it without the gate.
func notTarget(c git.Checkout, target string) error {
	if c.Branch != target {
		return nil
	}
	return fault.Refuse("--adopt %s: the worktree is on %s, the branch to merge into: name another with --target",
		c.Top, strings.TrimPrefix(target, "refs/heads/"))
}

// refuseSparse refuses a worktree that lacks files on purpose: the audit would take
// them for deleted ones.
func refuseSparse(ctx context.Context, s *worksite.Site, c git.Checkout) error {
	hidden, err := s.Host.HiddenBits(ctx, c)
	if err != nil {
		return err
	}
	if len(hidden) > 0 {
		return fault.Refuse("--adopt %s: %d files are hidden from git (a sparse checkout, or git update-index), so what is missing cannot be told from what was "+
			"deleted: let cordon make the worktree", c.Top, len(hidden))
	}
	return nil
}

// refuseConversions refuses a worktree whose files need not equal their blobs: the
// audit would take every converted file for a changed one.
func refuseConversions(ctx context.Context, s *worksite.Site, c git.Checkout) error {
	for _, key := range []string{"core.autocrlf", "core.eol"} {
		v, ok, err := s.Host.ConfigValue(ctx, key)
		if err != nil {
			return err
		}
		if ok && v != "false" && v != "input" && v != "lf" {
			return fault.Refuse("--adopt: %s=%s converts files on checkout, so they cannot be compared with the base commit: let cordon make the worktree", key, v)
		}
	}
	texts, err := attributes(ctx, s, c.Head)
	if err != nil {
		return err
	}
	for name, text := range texts {
		for _, word := range []string{"eol=crlf", "ident", "filter=", "working-tree-encoding="} {
			if worktree.HasAttribute(text, word) {
				return fault.Refuse("--adopt: %s asks for %s, which converts files on checkout, so they cannot be compared with the base commit: let cordon make "+
					"the worktree", name, word)
			}
		}
	}
	return nil
}

// attributes are the texts that decide how git writes the files of a commit:
// its own, and the repository's.
func attributes(ctx context.Context, s *worksite.Site, commit git.OID) (map[string]string, error) {
	texts := map[string]string{}
	own, err := plainfile.ReadLinked(filepath.Join(s.Host.Dir, "info", "attributes"), plainfile.Text)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	texts["info/attributes"] = string(own)
	files, err := s.Host.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if filepath.Base(f.Path) != ".gitattributes" || f.Mode == git.Gitlink {
			continue
		}
		text, err := s.Host.Blob(ctx, f.OID)
		if err != nil {
			return nil, err
		}
		texts[f.Path] = string(text)
	}
	return texts, nil
}

// FreeToAdopt refuses a worktree that a live worker has.
func FreeToAdopt(ctx context.Context, s *worksite.Site, now *ledger.Ledger, top string) error {
	all, err := s.Standings(ctx, now.Workers)
	if err != nil {
		return err
	}
	for _, w := range now.Workers {
		if status := all[w.ID].Status; w.Lease.Lease().Worktree == top && status.Live() {
			return fault.Refuse("--adopt: %s is the worktree of %s, which is %s", top, w.ID, status)
		}
	}
	return nil
}
