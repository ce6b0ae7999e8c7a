package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gitLocks are the locks that a landing has while it places files.
var gitLocks = []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"}

// killedTogether kills cordon and its git at once, as the end of a container does, while
// the branch is locked.
func (s *site) killedTogether(id string) {
	s.t.Helper()
	cmd := s.command("merge", id)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for { // git has locked all of it, and waits while files are placed
		text, _ := os.ReadFile(filepath.Join(s.repo, ".git", "refs/heads/main.lock"))
		if _, err := os.Lstat(filepath.Join(s.repo, ".git", "HEAD.lock")); err == nil && len(text) > 40 {
			break
		}
		if cmd.Process.Signal(syscall.Signal(0)) != nil {
			s.t.Fatal("cordon ended")
		}
		time.Sleep(50 * time.Microsecond)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil { // it starts no other
		s.t.Fatal(err)
	}
	for _, pid := range append(children(s.t, cmd.Process.Pid), cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
	}
	_ = cmd.Wait()
}

// children are the processes that a process started. Git has a process group of its own.
func children(t *testing.T, pid int) []int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		t.Fatalf("%v, %v", lists, err)
	}
	var all []int
	for _, path := range lists {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, child)
		}
	}
	return all
}

// Killed together with its git, cordon leaves the locks of git. The next cordon removes
// them, since the index lock is its own and the branch's lock holds its move.
func TestKilledWithItsGit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "for n in $(seq 500); do echo $n >src/new-$n; done")
	id := s.latest()
	s.killedTogether(id)
	for _, name := range gitLocks {
		if _, err := os.Lstat(filepath.Join(s.repo, ".git", name)); err != nil {
			t.Fatalf("the kill left no lock: %v", err)
		}
	}
	if err := s.process("git", "commit", "--allow-empty", "-m", "now").Run(); err == nil {
		t.Fatal("git commits all the same: nothing is shown")
	}
	s.cordon([]int{0}, "merge", id)
	for _, name := range gitLocks {
		if _, err := os.Lstat(filepath.Join(s.repo, ".git", name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if s.landed(id) != 1 {
		t.Error("it did not land")
	}
	s.sound()
	s.git("commit", "-q", "--allow-empty", "-m", "mine")
}
