package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// queued is what cordon queue tells of the results for main, by worker.
func (s *site) queued() map[string]string {
	s.t.Helper()
	var shown struct {
		Branches []struct {
			Results []struct{ Worker, State string }
		}
	}
	s.parse(s.cordon([]int{0}, "queue", "--json").out, &shown)
	states := map[string]string{}
	for _, b := range shown.Branches {
		for _, r := range b.Results {
			states[r.Worker] = r.State
		}
	}
	return states
}

// awaitQueued waits until a result is in a state in the queue; "": any.
func (r *running) awaitQueued(id, state string) {
	r.t.Helper()
	r.await(fmt.Sprintf("%s is %q in the queue", id, state), func() bool {
		now := r.queued()[id]
		return now != "" && (state == "" || now == state)
	})
}

// What the queue of a waitingSite is kept at until there is a file of that name beside the repository.
const (
	theTests    = "tests"
	theLandings = "landings"
)

// waitsFor is a shell line that ends when there is a file beside the repository.
func (s *site) waitsFor(name string) string {
	return fmt.Sprintf("until test -e '%s'; do sleep 0.02; done", s.place(name))
}

// letGo lets go of what waits for files beside the repository.
func (s *site) letGo(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.write(name, "")
	}
}

// heldLandings has every landing ask a hook, which waits for a file.
func (s *site) heldLandings(parallel int) {
	s.t.Helper()
	config := s.write("home/.config/cordon/config.yaml", fmt.Sprintf("version: 1\nland: {hooks: run, parallel: %d}\n", parallel))
	hook := s.write("repo/.git/hooks/pre-merge-commit", "#!/bin/sh\n"+s.waitsFor(theLandings)+"\n")
	if err := errors.Join(os.Chmod(config, 0o600), os.Chmod(hook, 0o755)); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.letGo(theTests, theLandings) })
}

// waitingSite has four results that wait for a person, and acceptance that waits for a file as long as the
// second of them is not there. Every landing waits for another: nothing that a test wants to see is over
// before it is seen.
func waitingSite(t *testing.T, parallel int) (s *site, ids []string) {
	s = newSite(t)
	policy := s.write("policy.yaml", fmt.Sprintf("version: 1\nisolation: none\nacceptance: [%q]\n", "test -e src/2 || "+s.waitsFor(theTests)))
	s.heldLandings(parallel)
	for i := range 4 {
		s.cordon([]int{0}, "run", "--no-merge", "--policy", policy, "--", "sh", "-c", fmt.Sprintf("echo x >src/%d", i+1))
		for _, w := range s.workers() {
			if !slices.Contains(ids, w.Worker) {
				ids = append(ids, w.Worker)
			}
		}
	}
	return s, ids
}

// A process of the queue that is killed at any step loses nothing and holds nobody up: the
// other results land, each once, and its own lands when it is asked for again.
func TestQueueKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parallel, victim int
		state            string
	}{
		"waits":   {1, 3, "waits"},
		"tested":  {2, 0, "tested"},
		"passed":  {2, 1, "passed"},
		"landing": {2, 0, "landing"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ids := waitingSite(t, c.parallel)
			var all []*running
			for _, id := range ids {
				r := s.start(nil, "merge", id)
				r.awaitQueued(id, "")
				all = append(all, r)
			}
			if c.state == "landing" {
				s.letGo(theTests)
			}
			victim := all[c.victim]
			victim.awaitQueued(ids[c.victim], c.state)
			if o := victim.signal(syscall.SIGKILL); o.signal != syscall.SIGKILL {
				t.Fatalf("it ended before: %+v", o)
			}
			s.git("commit", "-q", "--allow-empty", "-m", "mine") // the operator goes on, too
			s.letGo(theTests, theLandings)
			s.rest(ids, all, c.victim)
			if n := s.landed(ids[c.victim]); n != 0 {
				t.Errorf("the killed one landed %d times", n)
			}
			s.cordon([]int{0}, "merge", ids[c.victim])
			s.allOnce(ids)
		})
	}
}

// Killed between the move of the branch and the record of it, a result has landed: the others
// go on from there, and it is not tested or landed again.
func TestQueueKilledAfterLanding(t *testing.T) {
	t.Parallel()
	s, ids := waitingSite(t, 2)
	var all []*running
	for i, id := range ids {
		var env []string
		if i == 0 {
			env = []string{"CORDON_TEST_KILL=before:gate.judged"}
		}
		r := s.start(env, "merge", id)
		r.awaitQueued(id, "")
		all = append(all, r)
	}
	s.letGo(theTests, theLandings)
	all[0].awaitEnd()
	if s.landed(ids[0]) != 1 {
		t.Fatalf("it was killed before it landed:\n%s%s", all[0].out.String(), all[0].errs.String())
	}
	s.rest(ids, all, 0)
	s.cordon([]int{0}, "merge", ids[0])
	s.allOnce(ids)
}

// rest waits for all but one, and wants them to have landed.
func (s *site) rest(ids []string, all []*running, but int) {
	s.t.Helper()
	for i, r := range all {
		if r.awaitEnd(); i != but && (r.cmd.ProcessState.ExitCode() != 0 || s.landed(ids[i]) != 1) {
			s.t.Errorf("%s did not land:\n%s%s", ids[i], r.out.String(), r.errs.String())
		}
	}
}

// allOnce wants each result to be in the branch once, and nobody to wait.
func (s *site) allOnce(ids []string) {
	s.t.Helper()
	for _, id := range ids {
		if n := s.landed(id); n != 1 {
			s.t.Errorf("%s landed %d times", id, n)
		}
	}
	if left := s.queued(); len(left) > 0 {
		s.t.Errorf("left in the queue: %v", left)
	}
	s.sound()
}

// held takes a lock of the state directory, as another process of cordon's would.
func (s *site) held(name string) *os.File {
	s.t.Helper()
	s.cordon([]int{0}, "run", "--", "true")
	locks, err := filepath.Glob(s.place("state/cordon/*/" + name))
	if err != nil || len(locks) != 1 {
		s.t.Fatal(locks, err)
	}
	lock, err := os.Open(locks[0])
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return lock
}

// awaitOpened waits until cordon has opened a file.
func (r *running) awaitOpened(name string) {
	r.t.Helper()
	r.await("cordon has opened "+name, func() bool {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", r.cmd.Process.Pid))
		return slices.ContainsFunc(links, func(link string) bool { to, _ := os.Readlink(link); return to == name })
	})
}

// A signal ends the wait for the lock of a landing, which another landing may hold for long.
func TestSignalAtTheGate(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		s := newSite(t)
		lock := s.held("gate.lock")
		r := s.start(nil, "run", "--", "true")
		r.awaitOpened(lock.Name())
		if o := r.signal(sig); o.code == 0 {
			t.Errorf("%v: %+v", sig, o)
		}
		lock.Close()
		s.sound()
	}
}

// A second ctrl-c ends cordon whatever it waits for. Here that is somebody who stopped in the middle of an append to the journal.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lock := s.held("journal.lock")
	r := s.start(nil, "run", "--", "true")
	r.awaitOpened(lock.Name())
	s.await("cordon has ended", func() bool {
		_ = r.cmd.Process.Signal(syscall.SIGINT) // it may have ended
		return r.over()
	})
	if o := ended(r.cmd, r.out.String(), r.errs.String()); o.signal != syscall.SIGINT {
		t.Errorf("%+v", o)
	}
	lock.Close()
	s.sound()
	s.cordon([]int{0}, "run", "--", "true")
}

// While a hook of a landing runs, which may take ten minutes, other runs begin, and results land on other branches. A signal
// ends the hook with what it started.
func TestHookHoldsNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.write("home/.config/cordon/config.yaml", "version: 1\nland: {hooks: run}\n")
	mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
	hook := s.write("repo/.git/hooks/reference-transaction", fmt.Sprintf(`#!/bin/sh
read -r old new ref
test "$1 $ref" = "prepared refs/heads/main" || exit 0
echo asked >'%s'
sleep %s & wait
`, s.place("asked"), mark))
	if err := errors.Join(os.Chmod(config, 0o600), os.Chmod(hook, 0o755)); err != nil {
		t.Fatal(err)
	}
	r := s.start(nil, "run", "--merge", "--", "sh", "-c", clean)
	r.until(s.place("asked"))
	id := s.only().Worker
	other := s.start(nil, "run", "--merge", "--target", "other", "--", "sh", "-c", "echo x >src/other")
	if other.awaitEnd(); other.cmd.ProcessState.ExitCode() != 0 || r.over() {
		t.Errorf("%s%s", other.out.String(), other.errs.String())
	}
	if o := r.signal(syscall.SIGINT); o.code != 130 {
		t.Errorf("%+v", o)
	}
	s.awaitNone(mark)
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	s.cordon([]int{0}, "merge", id)
	s.allOnce([]string{id})
}
