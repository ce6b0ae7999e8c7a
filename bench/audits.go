package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/worktree"
)

// audits measures how long it takes to find out what was changed in a tree: in the
// layer, as the kernel leaves it, and by git in a checkout with the same changes.
func (p *project) audits(ctx context.Context, c choice) error {
	dir := filepath.Join(p.dir, "audited")
	if err := p.addWorktree(ctx, dir); err != nil {
		return err
	}
	for _, n := range auditSizes {
		if n > len(p.files) {
			continue
		}
		if err := p.auditOf(ctx, c, n, dir); err != nil {
			return fmt.Errorf("%d changes: %w", n, err)
		}
	}
	erase(dir)
	id, err := p.lastWorker(ctx)
	if err != nil {
		return err
	}
	for range c.turns {
		if err := p.figures.time("audit now", func() error { return p.call(ctx, "audit", "--now", id) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *project) auditOf(ctx context.Context, c choice, n int, plain string) error {
	id := fmt.Sprint("audit-", n)
	if err := p.layers(ctx, id, nil); err != nil {
		return err
	}
	for _, words := range [][]string{{"reset", "-q", "--hard"}, {"clean", "-fdq"}} {
		if err := gitIn(ctx, plain, words...); err != nil {
			return err
		}
	}
	upper := worktree.Upper(p.place.Layers(id), worktree.FilesLayer)
	if err := p.change(n, plain, upper); err != nil {
		return err
	}
	settle()
	for turn := range c.turns + 1 { // the first makes caches warm
		figures := p.figures
		if turn == 0 {
			figures = map[string]*measure{}
		}
		err := figures.time(fmt.Sprint("audit of ", n), func() error { return p.collect(ctx, id, upper, n) })
		if err != nil {
			return err
		}
		err = figures.time(fmt.Sprint("status of ", n), func() error { return p.status(ctx, plain, n) })
		if err != nil {
			return err
		}
	}
	return nil
}

// change makes n changes in some directories: every tenth is a new file, the others
// are files with a line more.
func (p *project) change(n int, dirs ...string) error {
	for i, f := range p.some(n) {
		text, err := os.ReadFile(filepath.Join(p.top(), f.Path))
		if err != nil {
			return err
		}
		name := f.Path
		if i%10 == 9 {
			name += ".new"
		}
		for _, dir := range dirs {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(at, append(text, "changed\n"...), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect is the part of an audit that looks at the tree, with all that git is asked
// for it.
func (p *project) collect(ctx context.Context, id, upper string, want int) error {
	listing, err := p.host.Listing(ctx, p.commit)
	if err != nil {
		return err
	}
	defer listing.Close()
	rules, err := policy.Compile(policy.Default(), policy.Location{Worktree: p.place.Tree(id), Home: p.home})
	if err != nil {
		return err
	}
	list, err := audit.Collect(ctx, audit.Tree{
		Top: upper, Layer: true, Format: p.host.Format, Base: listing, Rules: rules,
		Ignored: func(ctx context.Context, paths []string) (map[string]bool, error) {
			return p.ignored(ctx, id, listing, paths)
		},
	})
	if err == nil && len(list) != want {
		err = fmt.Errorf("%d were found", len(list))
	}
	return err
}

// ignored asks git as cordon does: where there is nothing but the base's rules.
func (p *project) ignored(ctx context.Context, id string, base *git.Listing, paths []string) (map[string]bool, error) {
	dir := p.place.Ignore(id)
	for _, f := range base.Above(".gitignore", paths) {
		text, err := base.Blob(f.OID, 16<<20)
		if err != nil {
			return nil, err
		}
		at := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	defer p.place.Erase(dir)
	return p.host.CheckIgnore(ctx, dir, paths)
}

func (p *project) status(ctx context.Context, dir string, want int) error {
	out, err := gitCommand(ctx, dir, "status", "--porcelain").Output()
	if err == nil && bytes.Count(out, []byte("\n")) != want {
		err = fmt.Errorf("git status has %d lines", bytes.Count(out, []byte("\n")))
	}
	return err
}

// lastWorker is the name of a worker that cordon run has left.
func (p *project) lastWorker(ctx context.Context) (string, error) {
	s, err := session.Open(ctx, p.top())
	if err != nil {
		return "", err
	}
	l, err := s.Ledger()
	if err != nil {
		return "", err
	}
	if len(l.Workers) == 0 {
		return "", errors.New("no worker has run")
	}
	return string(l.Workers[len(l.Workers)-1].ID), nil
}
