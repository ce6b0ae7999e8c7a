package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// buildPackages is how many packages the module has that workers build.
const buildPackages = 30

// buildGoals count what a worker compiles of a Go module after another worker landed, and
// compare the time of its build with that of the host, whose cache is warm.
func (p *project) buildGoals(ctx context.Context, turns int) ([]goal, error) {
	defer erase(p.dir)
	host := filepath.Join(p.dir, "host")
	if err := makeModule(ctx, host); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	defer erase(p.place.Path())
	const script = `go list -f '{{if .Stale}}{{.ImportPath}}{{end}}' ./... >stale && "$0" took 1 go build ./... >took`
	var compiled []int
	for turn := range turns + 1 {
		if err := p.call(ctx, "run", "--merge", "--", "sh", "-c", script, p.self); err != nil {
			return nil, err
		}
		stale, err := os.ReadFile(filepath.Join(host, "stale"))
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, bytes.Count(stale, []byte("\n")))
		if turn == 0 { // it leaves a cache
			continue
		}
		took, err := os.ReadFile(filepath.Join(host, "took"))
		if err == nil {
			err = p.read(took, "build inside")
		}
		if err != nil {
			return nil, err
		}
	}
	for turn := range turns + 1 {
		began := time.Now()
		if err := run(host, []string{"go", "build", "./..."}); err != nil {
			return nil, err
		}
		if turn > 0 {
			p.figures.add("build", time.Since(began))
		}
	}
	what := fmt.Sprintf("`go build ./...`, %d packages, in a worker after another one landed", buildPackages)
	return []goal{
		{what + ": packages to compile", "0", fmt.Sprintf("%d; %d in the first worker", compiled[turns], compiled[0])},
		{what + ", compared with the warm host", "", p.times("build inside", "build")},
	}, nil
}

// makeModule makes a repository with a Go module that nobody has built yet, whose packages
// import each other in a row.
func makeModule(ctx context.Context, dir string) error {
	now := time.Now().UnixNano()
	files := map[string]string{"go.mod": "module example\n\ngo 1.24\n"}
	for i := range buildPackages {
		text := fmt.Sprintf("package p%d\n\nimport \"fmt\"\n\nfunc Say() { fmt.Println(%d) }\n", i, now)
		if i > 0 {
			text = fmt.Sprintf("package p%d\n\nimport \"example/p%d\"\n\nfunc Say() { p%d.Say() }\n", i, i-1, i-1)
		}
		files[fmt.Sprintf("p%d/p.go", i)] = text
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, words := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		if err := gitIn(ctx, dir, words...); err != nil {
			return err
		}
	}
	return nil
}
