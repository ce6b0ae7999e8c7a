package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Numbers of two machines can be compared only when both measured the same commit.
func TestGenerate(t *testing.T) {
	var commits []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "repo")
		if err := generate(t.Context(), dir, 300); err != nil {
			t.Fatal(err)
		}
		out, err := gitCommand(t.Context(), dir, "rev-parse", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, string(out))
		if out, err = gitCommand(t.Context(), dir, "ls-files").Output(); err != nil || strings.Count(string(out), "\n") != 300 {
			t.Errorf("%d files, %v", strings.Count(string(out), "\n"), err)
		}
		if out, err = gitCommand(t.Context(), dir, "status", "--porcelain").Output(); err != nil || len(out) > 0 {
			t.Errorf("not clean: %s, %v", out, err)
		}
	}
	if commits[0] != commits[1] {
		t.Errorf("two repositories: %q", commits)
	}
}

func TestOver(t *testing.T) {
	for r, want := range map[float64]string{0.001: "(÷1000)", 0.5: "(÷2.0)", 1: "(×1.00)", 1.26: "(×1.26)"} {
		if got := over(r); got != want {
			t.Errorf("%v: %s", r, got)
		}
	}
}
