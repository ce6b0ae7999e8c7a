package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// site is a repository of an operator's, with a home and a state directory of
// its own, for tests that a script cannot tell: those that kill.
type site struct {
	t    *testing.T
	home string
	repo string
	env  []string
	wrap func(*exec.Cmd) *exec.Cmd // nil: a command runs as it is

	sources *sources // for evidence
}

// share lets workers of the repository have variables of the operator's.
func (s *site) share(names ...string) {
	s.t.Helper()
	if len(names) == 0 {
		return
	}
	args := []string{"config", "share"}
	for _, name := range names {
		args = append(args, "secret:"+name)
	}
	s.cordon([]int{0}, args...)
}

// newSite makes a repository with one commit.
func newSite(t *testing.T) *site {
	t.Helper()
	return siteIn(t, t.TempDir())
}

// siteIn makes one in an empty directory.
func siteIn(t *testing.T, dir string) *site {
	t.Helper()
	s := &site{t: t, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo"), sources: new(sources)}
	s.env = append(environ(), "HOME="+s.home, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "GIT_CONFIG_NOSYSTEM=1")
	s.write("home/.gitconfig", "[user]\n\tname = Operator\n\temail = operator@example.com\n[init]\n\tdefaultBranch = main\n")
	s.write("repo/src/a.txt", "a\n")
	s.write("repo/docs/d.txt", "d\n")
	s.git("init", "-q")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "base")
	t.Cleanup(s.alone)
	return s
}

// alone waits until no process is left that keeps its state at the site: a worker that a desk sent back still writes
// when the desk has ended.
func (s *site) alone() {
	s.await("no process keeps its state at the site", func() bool { return len(s.cordons()) == 0 })
}

// environ is the environment of a person: in one that says it is a CI job's, several
// clients ask nothing and show nothing.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "CI" || name == "CONTINUOUS_INTEGRATION" || strings.HasPrefix(name, "GITHUB_") || strings.HasPrefix(name, "GITLAB_")
	})
}

// write puts a file beside the repository, or into it.
func (s *site) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(filepath.Dir(s.repo), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := writeWhole(path, text, 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// writeWhole writes a file while no other test starts a process, which would have it open for writing too until it runs its
// own program: a script cannot be started meanwhile ("text file busy").
func writeWhole(path, text string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), mode)
}

// place is a path beside the repository.
func (s *site) place(name string) string { return filepath.Join(filepath.Dir(s.repo), name) }

// git runs the operator's git and wants it to succeed.
func (s *site) git(args ...string) string {
	s.t.Helper()
	cmd := s.process("git", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// outcome is how a cordon process ended.
type outcome struct {
	code     int // -1 when a signal ended it
	signal   syscall.Signal
	out, err string
}

// command is a cordon process that has not been started.
func (s *site) command(args ...string) *exec.Cmd {
	return s.process("cordon", args...)
}

// process is a process in the repository that has not been started.
func (s *site) process(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.repo, s.env
	if s.wrap != nil {
		return s.wrap(cmd)
	}
	return cmd
}

// try runs cordon to its end.
func (s *site) try(cmd *exec.Cmd) outcome {
	s.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return ended(cmd, out.String(), errs.String())
}

func ended(cmd *exec.Cmd, out, errs string) outcome {
	o := outcome{code: cmd.ProcessState.ExitCode(), out: out, err: errs}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		o.signal = ws.Signal()
	}
	return o
}

// cordon runs cordon and wants one of the exit codes.
func (s *site) cordon(codes []int, args ...string) outcome {
	s.t.Helper()
	o := s.try(s.command(args...))
	if !slices.Contains(codes, o.code) {
		s.t.Fatalf("cordon %s ended with %d (signal %v), want one of %v\n%s%s", strings.Join(args, " "), o.code, o.signal, codes, o.out, o.err)
	}
	s.checkOutput(args, o.out)
	return o
}

// killed runs cordon with a kill at one append to the journal.
func (s *site) killed(spec string, args ...string) {
	s.t.Helper()
	cmd := s.command(args...)
	cmd.Env = append(slices.Clone(s.env), "CORDON_TEST_KILL="+spec)
	if o := s.try(cmd); o.signal != syscall.SIGKILL {
		s.t.Fatalf("cordon %s with a kill at %s ended with %d: the kill did not happen\n%s%s", strings.Join(args, " "), spec, o.code, o.out, o.err)
	}
}

// worker is what cordon ls tells of one.
type worker struct {
	Worker string
	Status string
	Tree   string `json:"worktree"` // where its own files lie on the host
	Kind   any    `json:"tree"`
	Disk   int64
}

// workers are all that cordon ls knows.
func (s *site) workers() []worker {
	s.t.Helper()
	var list struct{ Workers []worker }
	s.parse(s.cordon([]int{0}, "ls", "--all-states", "--json").out, &list)
	return list.Workers
}

// only is the one worker there is.
func (s *site) only() worker {
	s.t.Helper()
	all := s.workers()
	if len(all) != 1 {
		s.t.Fatalf("there are %d workers, want 1: %v", len(all), all)
	}
	return all[0]
}

func (s *site) parse(text string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.t.Fatalf("%v in %s", err, text)
	}
}

// events are the types of the journal's events.
func (s *site) events() []string {
	s.t.Helper()
	var log struct{ Events []struct{ Type string } }
	s.parse(s.cordon([]int{0}, "log", "--json").out, &log)
	types := []string{}
	for _, e := range log.Events {
		types = append(types, e.Type)
	}
	return types
}

// sound wants a journal that verifies, a host that git finds no fault with, and
// a checkout without a change: a branch moved under it shows as one.
func (s *site) sound() {
	s.t.Helper()
	if o := s.cordon([]int{0}, "log", "verify"); !strings.Contains(o.out, "sound") && !strings.Contains(o.err, "no journal yet") {
		s.t.Errorf("cordon journal verify: %s%s", o.out, o.err)
	}
	s.git("fsck", "--strict", "--no-dangling")
	if dirty := s.git("status", "--porcelain"); dirty != "" {
		s.t.Errorf("the operator's checkout is not clean:\n%s", dirty)
	}
}

// landed is how often the result of a worker is on main.
func (s *site) landed(id string) int {
	s.t.Helper()
	n := 0
	for _, name := range strings.Fields(s.git("log", "main", "--format=%(trailers:key=Cordon-Worker,valueonly)")) {
		if name == id {
			n++
		}
	}
	return n
}

// alive lists the processes of a worker of this site, on Linux.
func (s *site) alive(id string) []string {
	return having("CORDON_WORKER="+id+"\x00", "HOME="+s.home+"\x00")
}

// untilDead waits until no process of a worker of this site is left.
func (s *site) untilDead(id string) {
	s.t.Helper()
	s.await("no process of "+id+" is left", func() bool { return len(s.alive(id)) == 0 })
}
