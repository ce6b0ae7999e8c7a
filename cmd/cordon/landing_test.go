package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// commit is what an operator types, and types again while another git has the lock.
func (s *site) commit(args ...string) (err error) {
	s.await("no other git has a lock", func() bool {
		out, failed := s.process("git", args...).CombinedOutput()
		if failed == nil {
			return true
		}
		// "cannot lock ref" is a compare-and-swap of git's own that was lost.
		if strings.Contains(string(out), "index.lock") || strings.Contains(string(out), "cannot lock ref") {
			return false
		}
		err = fmt.Errorf("git %s: %v\n%s", strings.Join(args, " "), failed, out)
		return true
	})
	return err
}

// lost lists what is not in the tip of main, of what was committed to it, and what a
// commit deleted.
func (s *site) lost(want []string) []string {
	s.t.Helper()
	have := map[string]bool{}
	for _, name := range strings.Split(s.git("ls-tree", "-r", "--name-only", "main"), "\n") {
		have[name] = true
	}
	var lost []string
	for _, name := range want {
		if !have[name] {
			lost = append(lost, name)
		}
	}
	if deleted := s.git("log", "--diff-filter=D", "--name-only", "--format=", "main"); deleted != "" {
		lost = append(lost, "deleted by a commit: "+strings.ReplaceAll(deleted, "\n", " "))
	}
	return lost
}

// atTheMove lets an operator commit as soon as main has moved. Nobody who commits then
// may commit the old index on the new tip.
func atTheMove(t *testing.T, rounds int) (lost int) {
	s := newSite(t)
	s.git("config", "gc.auto", "0") // the branch stays a file
	ref := filepath.Join(s.repo, ".git", "refs", "heads", "main")
	for i := range rounds {
		before, err := os.ReadFile(ref)
		if err != nil {
			t.Fatal(err)
		}
		var over atomic.Bool
		var op error
		var operator sync.WaitGroup
		operator.Go(func() {
			s.atOnce("main has moved", func() bool {
				now, err := os.ReadFile(ref)
				return err == nil && string(now) != string(before) || over.Load()
			}, filepath.Dir(ref))
			op = s.commit("commit", "-q", "--allow-empty", "-m", fmt.Sprint("operator ", i))
		})
		name := fmt.Sprintf("src/landed-%d", i)
		o := s.try(s.command("run", "--merge", "--operator-active", "--", "sh", "-c", "echo x >"+name))
		over.Store(true)
		operator.Wait()
		if op != nil || o.code != 0 {
			t.Fatalf("round %d: %v; cordon ended with %d\n%s%s", i, op, o.code, o.out, o.err)
		}
		if gone := s.lost([]string{name}); len(gone) > 0 {
			lost++
			t.Errorf("round %d: lost %q", i, gone)
			s.git("reset", "-q", "--hard", "HEAD~1") // so that the next round begins well
			continue
		}
		if dirty := s.git("status", "--porcelain"); dirty != "" {
			t.Errorf("round %d: the checkout is not clean: %s", i, dirty)
		}
	}
	return lost
}

// allTheTime lets an operator commit a file of theirs again and again while results
// land.
func allTheTime(t *testing.T, rounds int) {
	s := newSite(t)
	var over atomic.Bool
	var op error
	var committed []string
	var operator sync.WaitGroup
	operator.Go(func() {
		for i := 0; !over.Load() && op == nil; i++ {
			name, began := fmt.Sprintf("mine/%d", i), time.Now()
			s.write("repo/"+name, "mine\n")
			if op = s.commit("add", name); op == nil {
				op = s.commit("commit", "-q", "-m", name)
			}
			committed = append(committed, name)
			took := time.Since(began) // they do something else most of the time, so that results come to land at all
			s.await("they commit again", func() bool { return over.Load() || time.Since(began) > 21*took })
		}
	})
	var landed []string
	for i := range rounds {
		name := fmt.Sprintf("src/landed-%d", i)
		o := s.try(s.command("run", "--merge", "--operator-active", "--", "sh", "-c", "echo x >"+name))
		for n := 0; o.code == 5 && n < 50; n++ { // something was not committed at that moment
			id := workerName.FindStringSubmatch(o.out + o.err)[1]
			o = s.try(s.command("merge", "--operator-active", id))
		}
		if o.code != 0 {
			t.Errorf("round %d: cordon ended with %d\n%s%s", i, o.code, o.out, o.err)
			break
		}
		landed = append(landed, name)
	}
	over.Store(true)
	operator.Wait()
	if op != nil {
		t.Fatal(op)
	}
	if gone := s.lost(append(landed, committed...)); len(gone) > 0 {
		t.Errorf("of %d results and %d commits these are lost: %q", len(landed), len(committed), gone)
	}
	t.Logf("%d results landed among %d commits of the operator's", len(landed), len(committed))
	if dirty := s.git("status", "--porcelain"); dirty != "" {
		t.Errorf("the checkout is not clean: %s", dirty)
	}
}

// A commit at the moment of a landing neither reverts what lands nor is lost itself.
func TestCommitWhileLanding(t *testing.T) {
	t.Parallel()
	t.Run("at the move", func(t *testing.T) { t.Parallel(); atTheMove(t, 2) })
	t.Run("all the time", func(t *testing.T) { t.Parallel(); allTheTime(t, 2) })
}

// A lock of somebody's is named and left alone, and so is everything else.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			lock := s.write("repo/.git/"+name, "")
			o := s.cordon([]int{5}, "run", "--merge", "--", "sh", "-c", "echo x >src/x")
			if !strings.Contains(o.err, "waiting") || !strings.Contains(o.err, lock+" exists") {
				t.Errorf("it says %s%s", o.out, o.err)
			}
			if s.landed(s.only().Worker) != 0 {
				t.Error("it landed")
			}
			if err := os.Remove(lock); err != nil {
				t.Fatalf("the lock is gone: %v", err)
			}
			s.sound()
			s.cordon([]int{0}, "merge", s.only().Worker)
			s.sound()
		})
	}
}

// killedLanding kills cordon some time after it has locked the index, and wants the next
// command to finish: nothing locked, nothing lost, the checkout clean.
func killedLanding(t *testing.T, rounds int) {
	s := newSite(t)
	lock := filepath.Join(s.repo, ".git", "index.lock")
	locked := 0
	for i := 0; i < rounds || locked == 0 && i < rounds+moreRounds; i++ {
		s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", fmt.Sprintf("mkdir src/%d; for n in $(seq 100); do echo %[1]d >src/%[1]d/$n; "+
			"echo %[1]d >src/all-$n; done", i))
		id := s.latest()
		r := s.start(nil, "merge", id)
		s.atOnce("the index is locked, or all of it is over", func() bool {
			fi, err := os.Lstat(lock)
			return err == nil && fi.Size() > 0 || r.over()
		}, filepath.Dir(lock))
		kill := time.AfterFunc(time.Duration(i%rounds*15)*time.Millisecond, func() { _ = r.cmd.Process.Kill() }) // somewhere in the landing
		r.awaitEnd()
		kill.Stop()
		if _, err := os.Lstat(lock); err == nil {
			locked++
		}
		s.cordon([]int{0}, "merge", id)
		s.sound()
		if _, err := os.Lstat(lock); err == nil || s.landed(id) != 1 {
			t.Errorf("round %d: landed %d times, lock: %v", i, s.landed(id), err)
		}
		for _, depth := range []string{"", "src", "src/*"} {
			if left, err := filepath.Glob(filepath.Join(s.repo, depth, ".cordon-*")); err != nil || len(left) > 0 {
				t.Errorf("round %d: left %v, %v", i, left, err)
			}
		}
	}
	t.Logf("%d kills left a lock", locked)
	if locked == 0 {
		t.Error("no kill came before the index had followed: nothing is shown")
	}
}

// latest is the worker that was started last.
func (s *site) latest() string {
	s.t.Helper()
	for _, w := range s.workers() {
		if w.Status == "finished" {
			return w.Worker
		}
	}
	s.t.Fatal("no worker waits to be merged")
	return ""
}

func TestKilledLanding(t *testing.T) {
	killedLanding(t, 12)
}

func TestCommitWhileLandingAll(t *testing.T) {
	rounds := 25
	if given := os.Getenv("CORDON_ROUNDS"); given != "" {
		var err error
		if rounds, err = strconv.Atoi(given); err != nil || rounds < 1 {
			t.Fatalf("CORDON_ROUNDS=%s is not a number of rounds", given)
		}
	}
	t.Run("at the move", func(t *testing.T) {
		t.Parallel()
		if lost := atTheMove(t, rounds); lost > 0 {
			t.Logf("lost in %d of %d rounds", lost, rounds)
		}
	})
	t.Run("all the time", func(t *testing.T) { t.Parallel(); allTheTime(t, rounds) })
}
