package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/follow"
	"cordon/internal/git"
)

// Obstacle is an uncommitted change that keeps a checkout from following its branch.
type Obstacle struct {
	Checkout string     `json:"checkout"`
	Path     audit.Path `json:"path"`
	Why      string     `json:"why"`
}

// blockedError says that files of a checkout keep it from following its branch.
type blockedError struct {
	Checkout string
	By       []follow.Obstacle
}

func (e *blockedError) Error() string {
	return fmt.Sprintf("the checkout %s cannot follow: %s", e.Checkout, inTheWay(e.By))
}

// uncommitted are the files, if all of them are uncommitted changes: nobody needs to wait
// for those while there is another obstacle.
func (e *blockedError) uncommitted() (list []Obstacle) {
	for _, o := range e.By {
		if !o.Uncommitted() {
			return nil
		}
		list = append(list, Obstacle{Checkout: e.Checkout, Path: audit.Path(o.Path), Why: o.Why})
	}
	return list
}

// busyError says that somebody's git is at work in a checkout. It will end.
type busyError struct{ error }

func (e *busyError) Unwrap() error { return e.error }

// Clearing is a wait for uncommitted changes to go. It looks and never writes: whether the
// result lands is decided by another landing, from its beginning.
type Clearing struct {
	g      *Gate
	result Result
	// Tell hears what is left in the way, when that has changed. It hears nothing while the
	// operator's git is at work.
	Tell func(left []Obstacle)

	told     []Obstacle
	weighed  git.OID // the tip of the target that unmerged was asked about
	weighing bool    // and its answer
}

// glanceEvery is how often a wait looks at a few files. The looks run no program, unless
// something has changed.
const glanceEvery = 500 * time.Millisecond

// Clearing begins a wait for the uncommitted changes that a result names.
func (g *Gate) Clearing(res Result) *Clearing {
	return &Clearing{g: g, result: res, told: res.InTheWay}
}

// Await returns when the changes are gone, or when the result has to be judged again for
// another reason, such as a conflict with a branch that moved. since is what the last wait
// for the same result returned, "" for none: as long as nothing has changed since, there
// is nothing to judge. landed says that the operator has merged the result themselves.
func (c *Clearing) Await(ctx context.Context, since string) (now string, landed bool, err error) {
	tick := time.NewTicker(glanceEvery)
	defer tick.Stop()
	for seen := ""; ; {
		if now = c.glance(); now != seen && now != since {
			clear, landed, err := c.look(ctx)
			if ctx.Err() != nil {
				return now, false, ctx.Err()
			}
			if clear || landed || err != nil { // what cannot be found out is found out by the landing
				return now, landed, nil
			}
		}
		seen = now
		select {
		case <-ctx.Done():
			return now, false, ctx.Err()
		case <-tick.C:
		}
	}
}

// glance sums up the files that change when an obstacle goes, when git is at work in a
// checkout, or when the target moves.
func (c *Clearing) glance() string {
	dir := c.g.host.Dir
	files := []string{
		filepath.Join(dir, filepath.FromSlash(c.result.Target)), filepath.Join(dir, "packed-refs"), filepath.Join(dir, "reftable", "tables.list"),
	}
	for _, at := range c.g.host.GitDirs() {
		for _, name := range []string{"HEAD", "index", "index.lock", "rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
			files = append(files, filepath.Join(at, name))
		}
	}
	for _, o := range c.result.InTheWay {
		files = append(files, filepath.Join(o.Checkout, filepath.FromSlash(string(o.Path))))
	}
	var text strings.Builder
	for _, file := range files {
		fi, err := os.Lstat(file)
		if err != nil {
			text.WriteString("-\n")
			continue
		}
		fmt.Fprintln(&text, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
	}
	return text.String()
}

// look finds out whether another landing is worth the attempt.
func (c *Clearing) look(ctx context.Context) (clear, landed bool, err error) {
	tip, err := c.g.tip(ctx, c.result.Target)
	if err != nil {
		return false, false, err
	}
	if landed, err = c.g.repo.IsAncestor(ctx, c.result.Commit, tip); landed || err != nil {
		return false, landed, err
	}
	on, why, err := c.g.followers(ctx, c.result.Target)
	var busy *busyError
	if errors.As(why, &busy) {
		return false, false, nil
	}
	if why != nil || err != nil {
		return true, false, err
	}
	left, err := c.left(ctx, on)
	if err != nil || left == nil {
		return false, false, err
	}
	if !slices.Equal(left, c.told) {
		c.told = left
		c.Tell(left)
	}
	if len(left) == 0 {
		return true, false, nil
	}
	clear, err = c.unmerged(ctx, tip, left)
	return clear, false, err
}

// left are the obstacles that are still there; nil: the operator's git is at work there.
func (c *Clearing) left(ctx context.Context, on []git.Checkout) ([]Obstacle, error) {
	left := []Obstacle{}
	for _, at := range on {
		if _, err := os.Lstat(filepath.Join(at.GitDir, "index.lock")); err == nil {
			return nil, nil
		}
		var here []follow.Obstacle
		for _, o := range c.result.InTheWay {
			if o.Checkout == at.Top {
				here = append(here, follow.Obstacle{Path: string(o.Path), Why: o.Why})
			}
		}
		if len(here) == 0 {
			continue
		}
		still, err := follow.Remaining(ctx, c.g.host.Repo, at, here)
		if err != nil {
			return nil, err
		}
		for _, o := range still {
			left = append(left, Obstacle{Checkout: at.Top, Path: audit.Path(o.Path), Why: o.Why})
		}
	}
	return left, nil
}

// unmerged reports whether the target has moved so that the result has to be judged again
// although files are in the way: it conflicts now, or no longer touches them.
func (c *Clearing) unmerged(ctx context.Context, tip git.OID, left []Obstacle) (bool, error) {
	if tip == c.weighed {
		return c.weighing, nil
	}
	c.weighed, c.weighing = tip, false
	below, err := c.g.repo.IsAncestor(ctx, tip, c.result.Commit)
	if err != nil || below {
		return false, err
	}
	merge, err := c.g.repo.MergeTrees(ctx, tip, c.result.Commit)
	if err != nil {
		return false, err
	}
	lands, err := c.g.repo.Diff(ctx, tip, merge.Tree)
	if err != nil {
		return false, err
	}
	c.weighing = len(merge.Conflicts) > 0 || !slices.ContainsFunc(left, func(o Obstacle) bool { return touches(lands, string(o.Path)) })
	return c.weighing, nil
}

// touches reports whether changes need the place of a path, or a part of it.
func touches(lands []git.Delta, p string) bool {
	return slices.ContainsFunc(lands, func(d git.Delta) bool {
		return d.Path == p || strings.HasPrefix(d.Path, p+"/") || strings.HasPrefix(p, d.Path+"/")
	})
}
