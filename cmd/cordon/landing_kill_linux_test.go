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

	"cordon/internal/testwait"

	"golang.org/x/sys/unix"
)

// gitLocks are the locks that a landing has while it places files.
var gitLocks = []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"}

// killedTogether kills cordon and its git at once, as the end of a container does, while
// the branch is locked. A git stops there: another has locked all of it, and waits while cordon places files.
func (s *site) killedTogether(id string) {
	s.t.Helper()
	r := s.start(s.stoppingGit("--refresh"), "merge", id)
	r.until(s.place("stopped"))
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // it starts no other
		s.t.Fatal(err)
	}
	for _, pid := range append(children(s.t, r.cmd.Process.Pid), r.cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
	}
	r.awaitEnd()
}

// atOnce waits for a condition that files in some directories bring about. It looks at each change of them: what holds for an instant
// may be over when a wait looks again.
func (s *site) atOnce(what string, holds func() bool, dirs ...string) {
	s.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		s.t.Fatal(err)
	}
	changes := os.NewFile(uintptr(fd), "changes")
	defer changes.Close()
	for _, dir := range dirs {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_DELETE); err != nil {
			s.t.Fatal(err)
		}
	}
	for end := time.Now().Add(testwait.Bound); !holds(); {
		if time.Now().After(end) {
			s.t.Fatalf("waited %v, and still not: %s\n%s", testwait.Bound, what, s.evidence())
		}
		if err := changes.SetReadDeadline(time.Now().Add(time.Second)); err != nil { // no file says that cordon has ended
			s.t.Fatal(err)
		}
		_, _ = changes.Read(make([]byte, 4096)) // a change, or the deadline
	}
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
