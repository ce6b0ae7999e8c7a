package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// running is a cordon process in the background.
type running struct {
	*site
	cmd       *exec.Cmd
	out, errs printed
	done      chan struct{}
}

// start begins a cordon process with further variables in its environment.
func (s *site) start(env []string, args ...string) *running {
	s.t.Helper()
	r := &running{site: s, cmd: s.command(args...), done: make(chan struct{})}
	r.cmd.Env = append(slices.Clone(s.env), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = r.cmd.Wait(); close(r.done) }() // how it ended is in ProcessState
	s.t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.done })
	s.sources.add(func() string {
		return fmt.Sprintf("--- cordon %s, ended: %v\n%s%s", strings.Join(args, " "), r.over(), ending(r.out.String()), ending(r.errs.String()))
	})
	return r
}

// over reports whether it has ended.
func (r *running) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// await waits for a condition. An end of cordon before that is a failure.
func (r *running) await(what string, holds func() bool) {
	r.t.Helper()
	r.site.await(what, func() bool {
		over := r.over() // before the look: it may do it, and end
		if holds() {
			return true
		}
		if over {
			r.t.Fatalf("cordon ended with %d before %s\n%s%s", r.cmd.ProcessState.ExitCode(), what, r.out.String(), r.errs.String())
		}
		return false
	})
}

// awaitEnd waits until cordon has ended by itself.
func (r *running) awaitEnd() {
	r.t.Helper()
	r.site.await("cordon has ended", r.over)
}

// until waits for a file that something in the background makes, and returns
// what it holds. An end of cordon before that is a failure.
func (r *running) until(path string) string {
	r.t.Helper()
	var text string
	r.await(path+" is there", func() bool {
		b, err := os.ReadFile(r.site.written(path))
		text = strings.TrimSpace(string(b))
		return err == nil && len(b) > 0
	})
	return text
}

// written finds the file of a path in the private layers of commands, where it is not in its directory yet.
func (s *site) written(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	for _, uppers := range []string{"state/cordon/.execs/*/layers/*/upper", "state/cordon/*/layers/*/tree/upper"} {
		for rel := path; ; {
			_, below, more := strings.Cut(strings.TrimPrefix(rel, "/"), "/")
			if !more {
				break
			}
			rel = below
			if found, _ := filepath.Glob(filepath.Join(s.place(uppers), rel)); len(found) > 0 {
				return found[0]
			}
		}
	}
	return path
}

// signal sends a signal and waits for the end.
func (r *running) signal(sig syscall.Signal) outcome {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
	r.awaitEnd()
	return ended(r.cmd, r.out.String(), r.errs.String())
}

// gone reports whether a process has ended, taken note of or not.
func gone(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Kill(n, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// processes counts those with a text among their arguments.
func processes(t *testing.T, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
			n++
		}
	}
	return n
}

// awaitGone waits for a process that somebody else ends.
func awaitGone(t *testing.T, pid string) {
	t.Helper()
	testwait.Until(t, "process "+pid+" is gone", func() bool { return gone(t, pid) })
}

// awaitNone waits until no process has a text among its arguments.
func (s *site) awaitNone(text string) {
	s.t.Helper()
	s.await("no process has "+text+" among its arguments", func() bool { return processes(s.t, text) == 0 })
}

// end kills a process that may be gone.
func end(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Error(err)
	}
}

// lingering is a worker that starts a child in its group and a daemon in a
// session of its own, says so in its tree, and waits; the second time it does its
// work. All of them have the mark among their arguments.
const lingering = `
if test -e src/b.txt; then echo done >src/b.txt; exit 0; fi
sleep $0 &
setsid sh -c 'echo half >src/b.txt; sleep $0; sleep $0' $0 &
wait
`

// linger starts it and waits until all of it runs.
func linger(s *site) (r *running, mark string) {
	s.t.Helper()
	mark = fmt.Sprintf("600.%d", time.Now().UnixNano())
	r = s.start(nil, "run", "--merge", "--", "sh", "-c", lingering, mark)
	r.await("there is a worker", func() bool { return len(s.workers()) > 0 })
	r.until(filepath.Join(s.only().Tree, "src/b.txt"))
	return r, mark
}

// resumed lets the worker do its work now, and wants it on main once.
func (s *site) resumed() {
	s.t.Helper()
	s.cordon([]int{0}, "resume", s.only().Worker)
	s.mergedOnce("src/b.txt", "done")
}

// mergedOnce wants the one worker's result on main, once, and in the checkout.
func (s *site) mergedOnce(file, text string) {
	s.t.Helper()
	s.sound()
	w := s.only()
	if w.Status != "merged" || s.landed(w.Worker) != 1 {
		s.t.Errorf("%s is %s and %d times on main", w.Worker, w.Status, s.landed(w.Worker))
	}
	if got := s.git("show", "main:"+file); got != text {
		s.t.Errorf("main has %q in %s, want %q", got, file, text)
	}
}

func TestSignalWhileTheWorkerRuns(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			r, mark := linger(s)
			if processes(t, mark) < 3 {
				t.Error("its processes do not run: this shows nothing")
			}
			if w := s.only(); w.Status != "running" {
				t.Errorf("meanwhile it is %q", w.Status)
			}
			o := r.signal(sig)
			if o.code != 130 || !strings.Contains(o.err, "cordon resume") {
				t.Errorf("it ended with %d\n%s", o.code, o.err)
			}
			if n := processes(t, mark); n != 0 {
				t.Errorf("%d processes are left", n)
			}
			if w := s.only(); w.Status != "interrupted" {
				t.Errorf("afterwards it is %q", w.Status)
			}
			s.sound()
			s.resumed()
		})
	}
}

// TestKillWhileTheWorkerRuns ends cordon without a chance to end anything: the
// worker dies with it, and its daemon too.
func TestKillWhileTheWorkerRuns(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"resume", "merge", "discard"} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			r, mark := linger(s)
			if o := r.signal(syscall.SIGKILL); o.signal != syscall.SIGKILL {
				t.Fatalf("it ended with %d", o.code)
			}
			if w := s.only(); w.Status != "lost" {
				t.Errorf("afterwards it is %q", w.Status)
			}
			s.awaitNone(mark)
			s.sound()
			switch next {
			case "resume":
				s.resumed()
			case "merge":
				s.cordon([]int{0}, "merge", s.only().Worker)
				s.mergedOnce("src/b.txt", "half")
			case "discard":
				s.cordon([]int{0}, "discard", "--yes", s.only().Worker)
			}
		})
	}
}

// otherGit puts a git on PATH that does something else where one of its arguments is this one.
func (s *site) otherGit(argument, does string) []string {
	s.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	path := s.write("bin/git", fmt.Sprintf("#!/bin/sh\nfor a; do if test \"$a\" = %s; then %s; fi; done\nexec '%s' \"$@\"\n", argument, does, real))
	if err := os.Chmod(path, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return []string{"PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH")}
}

// stoppingGit puts a git on PATH that stops once where an argument says, until
// it is killed.
func (s *site) stoppingGit(argument string) []string {
	s.t.Helper()
	s.t.Cleanup(func() { // a git whose cordon was killed goes on by itself
		if pid, err := os.ReadFile(s.place("stopped")); err == nil {
			end(s.t, strings.TrimSpace(string(pid)))
		}
	})
	return s.otherGit(argument, fmt.Sprintf("test -e '%s' || { echo $$ >'%[1]s'; exec sleep 600; }", s.place("stopped")))
}

func TestSignalBetweenTheSteps(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		argument, status string
	}{
		"preparation": {"read-tree", "leased"},
		"audit":       {"check-ignore", "finished"},
		"gate":        {"fast-import", "finished"},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				r := s.start(s.stoppingGit(at.argument), "run", "--merge", "--", "sh", "-c", clean)
				r.until(s.place("stopped"))
				o := r.signal(sig)
				if sig != syscall.SIGKILL && o.code != 130 {
					t.Errorf("it ended with %d\n%s", o.code, o.err)
				}
				if w := s.only(); w.Status != at.status {
					t.Errorf("afterwards it is %q, want %q", w.Status, at.status)
				}
				s.sound()
				s.cordon([]int{0}, "resume", s.only().Worker)
				s.mergedOnce("src/b.txt", "new")
				s.oneTree()
			})
		}
	}
}

// oneTree wants what the one worker has on disk, and nothing half made beside it.
func (s *site) oneTree() {
	s.t.Helper()
	w := s.only()
	trees, layers := s.stateEntries("trees"), s.stateEntries("layers")
	want := 1
	if w.Kind == "overlay" {
		want = 0
	}
	if len(trees) != want || len(layers) != 1 || filepath.Base(layers[0]) != w.Worker {
		s.t.Errorf("trees: %v, layers: %v", trees, layers)
	}
	if left := s.unfinishedBases(); len(left) > 0 {
		s.t.Errorf("bases: %v", left)
	}
	if _, _, err := onHost(w.Tree, w.Kind); err != nil {
		s.t.Error(err)
	}
}

func TestSignalDuringAcceptance(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			check := fmt.Sprintf("if ! test -e '%s'; then setsid sleep 600 & echo $! >'%[1]s'; sleep 600; fi; grep -q new src/b.txt", s.place("checking"))
			line, err := json.Marshal(check) // a JSON string is a YAML string
			if err != nil {
				t.Fatal(err)
			}
			policy := s.write("policy.yaml", "version: 1\nisolation: none\nacceptance: ["+string(line)+"]\n")
			r := s.start(nil, "run", "--merge", "--policy", policy, "--", "sh", "-c", clean)
			daemon := r.until(s.place("checking"))
			if o := r.signal(sig); sig == syscall.SIGINT && o.code != 130 {
				t.Errorf("it ended with %d\n%s", o.code, o.err)
			}
			if sig == syscall.SIGINT && !gone(t, daemon) {
				t.Error("the daemon of the acceptance command is left")
			}
			if w := s.only(); w.Status != "finished" || s.landed(w.Worker) != 0 {
				t.Errorf("afterwards it is %q and %d times on main", w.Status, s.landed(w.Worker))
			}
			s.sound()
			s.cordon([]int{0}, "resume", s.only().Worker)
			s.mergedOnce("src/b.txt", "new")
			awaitGone(t, daemon)
		})
	}
}

// TestKilledWhileTheBranchMoved is the instant between the two acts of a landing:
// the branch is at the result, the operator's checkout is not.
func TestKilledWhileTheBranchMoved(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"resume", "merge"} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.killed("after:land.intended", "run", "--merge", "--", "sh", "-c", clean+"; exit 0")
			var log struct {
				Events []struct {
					Type string
					Data struct{ New string }
				}
			}
			s.parse(s.cordon([]int{0}, "log", "--json").out, &log)
			intent := log.Events[len(log.Events)-1]
			if intent.Type != "land.intended" {
				t.Fatalf("it was killed at %s", intent.Type)
			}
			s.git("update-ref", "refs/heads/main", intent.Data.New)
			if s.git("status", "--porcelain") == "" {
				t.Fatal("the checkout is clean: this test shows nothing")
			}
			s.cordon([]int{0}, next, s.only().Worker)
			s.mergedOnce("src/b.txt", "new")
		})
	}
}
