package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// pipe puts a named pipe in the place of a file.
func (s *site) pipe(name string) {
	s.t.Helper()
	at := s.place(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Mkfifo(at, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// piped are names that git, cordon or a client opens in a tree.
var piped = []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap", ".mcp.json", ".worktreeinclude", "cordon.yaml", "n/.git/HEAD", "n/.git/config", "m/.git"}

// No command waits for a pipe in the checkout, whatever its name is. (Runs that git cannot
// start for one are in testdata/script/pipes_in_checkouts.txtar: cordon gives git two seconds.)
func TestPipesHoldNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.git("worktree", "add", "-q", "-b", "other", s.place("other"))
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "echo more >>src/a.txt") // the control
	id := s.only().Worker
	for _, name := range piped {
		s.pipe("repo/" + name)
		s.pipe("other/" + name)
	}
	for _, line := range []string{"doctor", "ls", "inbox", "show ID", "diff ID", "audit ID", "checkout ID ../out", "logs ID", "gc --dry-run", "exec -- true"} {
		s.cordon([]int{0, 1, 5}, strings.Fields(strings.ReplaceAll(line, "ID", id))...)
	}
	if left, _ := filepath.Glob(s.place("state/cordon/.cordon-doctor-*")); len(left) > 0 {
		t.Errorf("doctor left %v", left)
	}
	for _, line := range []string{"policy check", "policy check cordon.yaml", "run --policy cordon.yaml -- true", "run --adopt ../other --policy ../other/cordon.yaml -- true"} {
		if o := s.cordon([]int{1, 2, 3}, strings.Fields(line)...); !strings.Contains(o.out+o.err, "cordon.yaml: not a regular file") {
			t.Errorf("cordon %s: %s%s", line, o.out, o.err)
		}
	}
}
