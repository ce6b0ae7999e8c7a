package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// crowd makes a repository of many small files and dispatches workers on it, all
// at once, from one base: each changes a file of its own, adds one, and commits half
// of it.
func crowd(t *testing.T, workers, files int) {
	s := newSite(t)
	s.grow(files)
	had, base := s.git("rev-list", "--count", "main"), s.git("rev-parse", "main")
	results := make([]outcome, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			line := fmt.Sprintf("echo %d >>many/0/%[1]d; git commit -qam wip; echo %[1]d >many/1/new-%[1]d", i)
			results[i] = s.try(s.command("run", "--merge", "--base", base, "--", "sh", "-c", line))
		})
	}
	all.Wait()
	made := 0
	for i, o := range results {
		if o.code != 0 {
			t.Errorf("worker %d ended with %d\n%s%s", i, o.code, o.out, o.err)
		}
		made += strings.Count(o.err, "the next worker shares it")
	}
	s.oneBase(made)
	s.sound()
	list := s.workers()
	if len(list) != workers {
		t.Errorf("%d workers are known, want %d", len(list), workers)
	}
	for _, w := range list {
		if w.Status != "merged" || s.landed(w.Worker) != 1 {
			t.Errorf("%s is %s, and %d times on main", w.Worker, w.Status, s.landed(w.Worker))
		}
	}
	want := fmt.Sprint(workers + number(t, had))
	if got := s.git("rev-list", "--count", "main"); got != want {
		t.Errorf("main has %s commits, want %s: one each", got, want)
	}
	if got := s.git("ls-tree", "-r", "--name-only", "main", "many"); strings.Count(got, "\n")+1 != files+workers {
		t.Errorf("main has %d files, want %d", strings.Count(got, "\n")+1, files+workers)
	}
}

// oneBase wants one checkout that all workers share, and made once.
func (s *site) oneBase(made int) {
	s.t.Helper()
	want := 1
	for _, w := range s.workers() {
		if w.Kind == "copy" {
			want = 0
		}
	}
	if found := s.stateEntries("bases/*/tree"); made != want || want > 0 && len(found) == 0 {
		s.t.Errorf("%d bases were made, want %d", made, want)
	}
	if left := s.unfinishedBases(); len(left) > 0 {
		s.t.Errorf("bases: %v", left)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// grow commits many small files, in directories of a hundred.
func (s *site) grow(files int) {
	s.t.Helper()
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter Operator <operator@example.com> now\ndata 4\nmany\nfrom refs/heads/main^0\n")
	for i := range files {
		text := fmt.Sprintf("file %d\n", i)
		fmt.Fprintf(&in, "M 644 inline many/%d/%d\ndata %d\n%s\n", i/100, i, len(text), text)
	}
	in.WriteString("done\n")
	cmd := exec.Command("git", "fast-import", "--quiet", "--done", "--date-format=now")
	cmd.Dir, cmd.Env, cmd.Stdin = s.repo, s.env, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	s.git("reset", "-q", "--hard", "main")
}

func TestWorkersAtOnce(t *testing.T) {
	t.Parallel()
	crowd(t, 3, 200)
}

func TestTwentyWorkersOnTwentyThousandFiles(t *testing.T) {
	crowd(t, 20, 20_000)
}
