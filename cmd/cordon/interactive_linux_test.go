package main

import (
	"slices"
	"strings"
	"testing"
)

// Whoever leaves a terminal has not said that the work is done: its result waits, unless the operator typed --merge.
func TestInteractiveWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("repo/cordon.yaml", "version: 1\nacceptance: [\"true\"]\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "policy")
	landed := func(name string) bool { return strings.Contains(s.git("ls-tree", "-r", "--name-only", "main"), name) }
	const waits = `review: 1 change for main, because a person was at its terminal`

	c := newConsole(s, nil, "run", "-i", "--", "sh", "-c", "echo half >src/half.txt")
	c.expect(waits)
	c.end(5)
	if landed("src/half.txt") {
		t.Error("it landed")
	}
	c = newConsole(s, nil, "run", "-i", "--merge", "--", "sh", "-c", "echo whole >src/whole.txt") // the control
	c.expect(`merged into main`)
	c.end(0)

	// A worker that a person took over at a terminal later.
	s.cordon([]int{6}, "run", "--", "sh", "-c", "exit 3")
	failed := slices.IndexFunc(s.workers(), func(w worker) bool { return w.Status == "failed" })
	c = newConsole(s, nil, "resume", "-i", s.workers()[failed].Worker, "--", "sh", "-c", "echo taken >src/taken.txt")
	c.expect(waits)
	c.end(5)
	if landed("src/taken.txt") {
		t.Error("it landed")
	}
}
