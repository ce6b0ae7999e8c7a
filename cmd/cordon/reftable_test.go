package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestReftableHost runs where git keeps refs in reftables (2.45 and later).
func TestReftableHost(t *testing.T) {
	t.Parallel()
	probe := exec.Command("git", "init", "-q", "--ref-format=reftable", t.TempDir())
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("this git has no reftables: %s", bytes.TrimSpace(out))
	}
	s := newSite(t)
	if err := os.RemoveAll(s.place("repo/.git")); err != nil {
		t.Fatal(err)
	}
	s.git("init", "-q", "--ref-format=reftable")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "base")
	s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", clean)
	s.mergedOnce("src/b.txt", "new")
	s.cordon([]int{4}, "run", "--merge", "--write", "src", "--", "sh", "-c", violating)
	s.sound()
	s.cordon([]int{0}, "gc", "--yes")
}
