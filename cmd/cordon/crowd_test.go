package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// crowd writes the events of so many workers that were merged into the journal, as a
// session does, without running any. Every second one has a question that is open.
func (s *site) crowd(log *journal.Journal, n int, target string, taken map[lease.ID]bool) (ids []lease.ID) {
	s.t.Helper()
	base := git.OID(s.git("rev-parse", target))
	for i := range n {
		id, err := lease.NewID(func(id lease.ID) bool { return taken[id] })
		if err != nil {
			s.t.Fatal(err)
		}
		taken[id] = true
		l := lease.Lease{
			Terms: lease.Terms{
				ID: id, Branch: "cordon/" + string(id), Base: base, Target: "refs/heads/" + target,
				Created: time.Now(), Expires: time.Now().Add(time.Hour), Policy: policy.Default(),
			},
			Place: lease.Place{Worktree: s.place("state/trees/" + string(id)), Home: s.home},
		}
		sealed, err := lease.Seal(l)
		if err != nil {
			s.t.Fatal(err)
		}
		s.tell(log, id, ledger.Leased, ledger.Lease{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: []string{"true"}})
		s.tell(log, id, ledger.Prepared, ledger.Tree{})
		s.tell(log, id, ledger.Started, ledger.Start{Command: []string{"true"}})
		if i%2 == 0 {
			s.tell(log, id, ledger.Asked, ledger.Question{Text: "which?"})
		}
		s.tell(log, id, ledger.Ended, cell.Exit{})
		s.tell(log, id, ledger.Audited, ledger.Audit{Verdict: "clean"})
		s.tell(log, id, ledger.Judged, gate.Result{Outcome: gate.Conflict, Commit: base})
		ids = append(ids, id)
	}
	return ids
}

func (s *site) tell(log *journal.Journal, id lease.ID, typ string, data any) {
	s.t.Helper()
	raw, err := ledger.Encode(typ, data)
	if err == nil {
		_, err = log.Append(string(id), typ, raw)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// journal opens the journal of a site that has run something.
func (s *site) journal() *journal.Journal {
	s.t.Helper()
	dirs, err := filepath.Glob(s.place("state/cordon/*/" + journal.File))
	if err != nil || len(dirs) != 1 {
		s.t.Fatalf("%v, %v", dirs, err)
	}
	j, err := journal.Open(filepath.Dir(dirs[0]))
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// counting puts a git in front of the real one that notes how it is called, and returns the
// value of PATH that leads to it and the file of its notes.
func (s *site) counting() (path, log string) {
	s.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	log = s.place("git.log")
	wrapper := s.write("counting/git", "#!/bin/sh\necho \"$*\" >>"+log+"\nexec "+real+" \"$@\"\n")
	if err := os.Chmod(wrapper, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return filepath.Dir(wrapper) + ":" + os.Getenv("PATH"), log
}

// counted runs cordon with such a git and returns how it was called.
func (s *site) counted(args ...string) []string {
	s.t.Helper()
	path, log := s.counting()
	cmd := s.command(args...)
	cmd.Env = append(cmd.Env, "PATH="+path)
	if o := s.try(cmd); o.code != 0 {
		s.t.Fatalf("cordon %v ended with %d\n%s", args, o.code, o.err)
	}
	return s.calls(log)
}

// calls are the notes of such a git.
func (s *site) calls(log string) []string {
	s.t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// inMemory appends to the journal where fsync costs nothing.
func (s *site) inMemory(appends func(*journal.Journal)) {
	s.t.Helper()
	dirs, err := filepath.Glob(s.place("state/cordon/*/" + journal.File))
	if err != nil || len(dirs) != 1 {
		s.t.Fatalf("%v, %v", dirs, err)
	}
	home := filepath.Dir(dirs[0])
	memory, err := os.MkdirTemp("/dev/shm", "cordon-crowd-")
	if err != nil {
		memory = s.t.TempDir()
	}
	defer os.RemoveAll(memory)
	carry := func(from, to string) {
		for _, name := range []string{journal.File, journal.HeadFile} {
			text, err := os.ReadFile(filepath.Join(from, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, name), text, 0o600)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}
	}
	carry(home, memory)
	log, err := journal.Open(memory)
	if err != nil {
		s.t.Fatal(err)
	}
	appends(log)
	carry(memory, home)
}

// TestGitProcessesOfRun counts the git processes of a whole run on a base that is there: at
// most twelve, with the one in the cell that proves a commit, and without the question for
// git's version, which is asked because the git of this test is new each time. One answers
// single questions; it is counted once, since it ends when nobody asks for two seconds, as on a
// busy machine, and is started again.
func TestGitProcessesOfRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "true")
	most := 10
	if os.Getenv("CORDON_TREE") == "copy" {
		most += 4 // it is written by git
	}
	answers := map[string]bool{}
	calls := slices.DeleteFunc(s.counted("run", "--no-merge", "--", "true"), func(line string) bool {
		again := strings.Contains(line, " cat-file --batch-command ") && answers[line]
		answers[line] = true
		return again || strings.HasSuffix(line, " version")
	})
	if len(calls) > most || len(calls) < 3 {
		t.Errorf("%d git processes outside the cell, want at most %d:\n%s", len(calls), most, strings.Join(calls, "\n"))
	}
}

// TestGitProcesses counts the git processes that a look at many workers starts: those of
// a repository without workers, and at most three for each branch.
func TestGitProcesses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	commands := []string{"ls", "ls --json", "inbox", "quarantine ls", "ui --plain"}
	none := map[string]int{}
	for _, c := range commands {
		none[c] = len(s.counted(strings.Fields(c)...))
	}
	s.cordon([]int{0}, "run", "--no-merge", "--", "true")
	s.cordon([]int{0}, "discard", "--yes", s.only().Worker)
	s.git("branch", "other")
	log, taken := s.journal(), map[lease.ID]bool{}
	within := func(branches int) {
		t.Helper()
		for _, c := range commands {
			calls := s.counted(strings.Fields(c)...)
			t.Logf("cordon %s, %d workers on %d branches: %d git processes, %d without workers", c, len(taken), branches, len(calls), none[c])
			if len(calls) > none[c]+3*branches || calls[0] == "" {
				t.Errorf("cordon %s starts more than three for each branch:\n%s", c, strings.Join(calls, "\n"))
			}
		}
	}
	s.crowd(log, 2, "main", taken)
	within(1)
	for range 3 { // bases of their own
		s.git("commit", "-q", "--allow-empty", "-m", "more")
		s.crowd(log, 22, "main", taken)
	}
	s.crowd(log, 30, "other", taken)
	within(2)
	s.inMemory(func(log *journal.Journal) { // five hundred workers with ten thousand events
		ids := s.crowd(log, 500-len(taken), "main", taken)
		for i := range 10_000 {
			s.tell(log, ids[i%len(ids)], ledger.Visited, ledger.Visit{})
		}
	})
	within(2)
	if n := len(s.workers()); n != len(taken)+1 {
		t.Errorf("cordon ls shows %d workers, want %d", n, len(taken)+1)
	}
}
