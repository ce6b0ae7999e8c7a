package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/git"
)

// choice says which trees are measured and how often.
type choice struct {
	files    []int
	repo     string
	turns    int
	patience time.Duration // for what git does in one kind of step on one repository
	only     string        // a word in the name of every piece of the goals that is measured
}

// treeRows are what is printed: medians, and in brackets ÷ or × against the line
// that a row is compared with. Inside is in a cell with the tree mounted in it.
// Every step begins when what was written before is on disk.
var treeRows = []group{
	{"base, shared by all trees of a commit", []row{
		{"git worktree add, for comparison", "add", ""},
		{"made in full, once", "base full", "add"},
		{"a layer for 10 changed files", "base thin", "add"},
		{"verified", "base verify", "add"},
	}},
	{"one tree made", []row{
		{"git worktree add --detach", "add", ""},
		{"git clone --shared", "clone", "add"},
		{"layers, nothing copied beforehand", "layers bare", "add"},
		{"layers, a leased directory of about 200 files copied", "layers leased", "add"},
		{"layers, default policy", "layers", "add"},
		{"the same, cell started, /bin/true run in it", "cell", "add"},
		{"the whole cordon run --no-merge -- true", "run", "add"},
	}},
	{"many trees made at once", []row{
		{"20 × git worktree add", "20 add", ""},
		{"20 × layers", "20 layers", "20 add"},
		{"20 × layers, a file read in each cell", "20 cells", "20 add"},
		{"20 × the whole cordon run", "20 runs", "20 add"},
		{"200 × git worktree add", "200 add", ""},
		{"200 × layers", "200 layers", "200 add"},
		{"200 × layers, a file read in each cell", "200 cells", "200 add"},
	}},
	{"disk before the first change", []row{
		{"git worktree", "disk plain", ""},
		{"layers", "disk layers", "disk plain"},
		{"the same after /bin/true", "disk cell", "disk plain"},
	}},
	{"git, without the start of a cell", []row{
		{"first git status in a worktree", "status 1 plain", ""},
		{"inside", "status 1 inside", "status 1 plain"},
		{"second", "status 2 plain", ""},
		{"inside", "status 2 inside", "status 2 plain"},
		{"edit, git commit -qam in a worktree", "commit plain", ""},
		{"inside", "commit inside", "commit plain"},
	}},
	{"changed set of a tree (its files alone, not commits and host)", auditRows()},
	{"one tree removed, for the caller", []row{
		{"git worktree remove --force", "remove plain", ""},
		{"moved away, as gc does", "remove", "remove plain"},
		{"deleted after that", "sweep", "remove plain"},
	}},
}

// auditSizes are how many changed files are looked for.
var auditSizes = []int{0, 10, 1000, 10000}

func auditRows() []row {
	var list []row
	for _, n := range auditSizes {
		status, audit := fmt.Sprint("status of ", n), fmt.Sprint("audit of ", n)
		list = append(list,
			row{fmt.Sprintf("git status --porcelain, %s changed", grouped(n)), status, ""},
			row{"audit of the layer", audit, status})
	}
	return append(list, row{"the whole cordon audit --now, 0 changed", "audit now", "status of 0"})
}

// trees measures the trees of workers.
func trees(ctx context.Context, c choice) error {
	dir, err := place()
	if err != nil {
		return err
	}
	defer erase(dir)
	t := tools{cordon: filepath.Join(dir, "cordon"), self: filepath.Join(dir, "bench")}
	for out, pkg := range map[string]string{t.cordon: "./cmd/cordon", t.self: "./bench"} {
		if err := build(out, pkg); err != nil {
			return err
		}
	}
	describe()
	var all []*project
	for i, produce := range c.repositories() {
		p := &project{tools: t, dir: filepath.Join(dir, fmt.Sprint("repo", i)), figures: figures{}}
		all = append(all, p)
		if err = p.life(ctx, c, produce); err != nil {
			break // what was measured is shown all the same
		}
	}
	show(treeRows, all)
	return err
}

// repositories are what is measured, each as a way to make it.
func (c choice) repositories() []func(context.Context, *project) error {
	var list []func(context.Context, *project) error
	for _, n := range c.files {
		list = append(list, func(ctx context.Context, p *project) error {
			p.name = grouped(n) + " files"
			return generate(ctx, filepath.Join(p.dir, "host"), n)
		})
	}
	if c.repo != "" {
		list = append(list, func(ctx context.Context, p *project) error {
			p.name = filepath.Base(c.repo)
			return borrow(ctx, c.repo, filepath.Join(p.dir, "host"))
		})
	}
	return list
}

// life measures everything about one repository and deletes it.
func (p *project) life(ctx context.Context, c choice, produce func(context.Context, *project) error) error {
	defer erase(p.dir)
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	began := time.Now()
	if err := produce(ctx, p); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	defer erase(p.place.Path())
	p.say("repository made", began)
	for _, part := range []struct {
		what string
		do   func(context.Context, choice) error
	}{{"base", p.bases}, {"one tree at a time", p.single}, {"many at once", p.many}, {"audit", p.audits}} {
		began := time.Now()
		if err := part.do(ctx, c); err != nil {
			return fmt.Errorf("%s, %s: %w", p.name, part.what, err)
		}
		p.say(part.what, began)
	}
	return nil
}

func (p *project) say(what string, began time.Time) {
	fmt.Fprintf(os.Stderr, "%s: %s, %.1f s\n", p.name, what, time.Since(began).Seconds())
}

// bases measures what is done once for all trees of a commit.
func (p *project) bases(ctx context.Context, c choice) error {
	ensure := func(commit git.OID) (err error) {
		p.base, err = p.store.Ensure(ctx, p.host.Repo, commit, nil)
		return err
	}
	settle()
	if err := p.figures.time("base full", func() error { return ensure(p.commit) }); err != nil {
		return err
	}
	whole := p.base
	for range c.turns {
		settle()
		if err := p.figures.time("base thin", func() error { return ensure(p.next) }); err != nil {
			return err
		}
		if len(p.base.Layers) != 2 {
			return fmt.Errorf("the base of the next commit has %d layers", len(p.base.Layers))
		}
		unneeded := func() (bool, error) { return false, nil }
		if err := p.store.Remove(ctx, p.base.Key, unneeded, time.Now()); err != nil {
			return err
		}
		p.base = whole
		if err := p.figures.time("base verify", func() error { return p.store.Verify(ctx, whole) }); err != nil {
			return err
		}
	}
	return nil
}
