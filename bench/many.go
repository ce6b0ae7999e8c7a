package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// many measures trees that are made at the same moment, with nothing copied
// beforehand. Each is looked into: a tree with the wrong content is a failure.
func (p *project) many(ctx context.Context, c choice) error {
	for _, n := range []int{20, 200} {
		p.atOnce(fmt.Sprint(n, " layers"), n, func(id string) error { return p.layers(ctx, id, nil) }, p.whole)
		p.atOnce(fmt.Sprint(n, " cells"), n, func(id string) error { return p.layersRead(ctx, id) }, nil)
		if n == 20 {
			p.atOnce("20 runs", n, func(string) error { return p.runOnce(ctx) }, nil)
		}
		if err := p.place.Sweep(); err != nil {
			return err
		}
		if p.bearable(n, c.patience) {
			p.manyPlain(ctx, n)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (p *project) layersRead(ctx context.Context, id string) error {
	if err := p.layers(ctx, id, nil); err != nil {
		return err
	}
	text, err := p.inside(ctx, id, "/bin/cat", "./"+p.sample().Path)
	if err != nil {
		return err
	}
	return p.right(text)
}

// atOnce does something n times at the same moment, then checks each.
func (p *project) atOnce(key string, n int, act, check func(id string) error) {
	settle()
	errs := make([]error, n)
	id := func(i int) string { return fmt.Sprintf("%s-%d", strings.ReplaceAll(key, " ", "-"), i) }
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = act(id(i)) })
	}
	all.Wait()
	p.figures.add(key, time.Since(began))
	m := p.figures.at(key)
	m.of = n
	for i, err := range errs {
		if err == nil && check != nil {
			err = check(id(i))
		}
		if err == nil {
			err = p.drop(id(i))
		}
		if err == nil {
			continue
		}
		if m.failed++; m.failed == 1 {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", p.name, id(i), err)
		}
	}
}

// bearable reports whether git can be expected to make n worktrees, and to let them
// be deleted, before anybody loses patience.
func (p *project) bearable(n int, patience time.Duration) bool {
	return time.Duration(n/runtime.NumCPU())*median(p.figures.at("add").times) < patience
}

// manyPlain is what git does at the same moment.
func (p *project) manyPlain(ctx context.Context, n int) {
	dir := filepath.Join(p.dir, "many")
	defer erase(dir)
	at := func(id string) string { return filepath.Join(dir, id) }
	p.atOnce(fmt.Sprint(n, " add"), n,
		func(id string) error { return p.addWorktree(ctx, at(id)) },
		func(id string) error {
			text, err := os.ReadFile(filepath.Join(at(id), p.sample().Path))
			return errors.Join(err, p.right(text))
		})
	erase(dir)
	_ = gitIn(ctx, p.clone, "worktree", "prune") // what it leaves is deleted with the clone
}
