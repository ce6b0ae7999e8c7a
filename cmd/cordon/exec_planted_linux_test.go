package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plantRepository makes a repository whose configuration runs a program.
const plantRepository = `git init -q . && git config core.fsmonitor 'touch PWNED; false'`

// plainDirectory is a directory outside of every repository, for exec.
func plainDirectory(s *site) string {
	return filepath.Dir(s.write("plain/x", "x\n"))
}

// prompted runs commands in an interactive shell whose prompt asks git for its status,
// as many people's does.
func prompted(s *site, dir string, lines ...string) string {
	s.t.Helper()
	env := append(slices.Clone(s.env), "PROMPT_COMMAND=git status >/dev/null 2>&1", "PS1=")
	return operatorShell(s, dir, env, strings.NewReader(strings.Join(lines, "\n")+"\n"), "--norc", "--noprofile", "-i")
}

// A prompt that asks git runs nothing that the command has left.
func TestExecPlantedBeforeThePrompt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	s.write("plain/plant.sh", plantRepository)
	planted := filepath.Join(dir, "PWNED")
	prompted(s, dir, "sh plant.sh", "true")
	if err := os.Remove(planted); err != nil {
		t.Fatalf("the prompt ran nothing without cordon: this shows nothing (%v)", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	out := prompted(s, dir, "cordon exec -- sh plant.sh", "true")
	if _, err := os.Lstat(planted); err == nil || !strings.Contains(out, "/plain/.git aside as ") {
		t.Errorf("the prompt ran what the command planted, or it was not said: %v\n%s", err, out)
	}
}

// A push into a bare repository that was there runs no hook of the command's.
func TestExecBareRepositoryKeepsItsHooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	s.git("init", "-q", "--bare", filepath.Join(dir, "origin.git"))
	hook := `printf '#!/bin/sh\ntouch %s/PWNED\n' "$PWD" >origin.git/hooks/update && chmod +x origin.git/hooks/update`
	if o := s.try(s.command("-C", dir, "exec", "--", "sh", "-c", hook)); o.code != 0 || !strings.Contains(o.err, "/origin.git aside as ") {
		t.Errorf("%+v", o)
	}
	s.git("push", "-q", filepath.Join(dir, "origin.git"), "HEAD:refs/heads/one")
	if _, err := os.Lstat(filepath.Join(dir, "PWNED")); err == nil {
		t.Error("the push ran the command's hook")
	}
	cmd := exec.Command("sh", "-c", hook)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.git("push", "-q", filepath.Join(dir, "origin.git"), "HEAD:refs/heads/two")
	if _, err := os.Lstat(filepath.Join(dir, "PWNED")); err != nil {
		t.Errorf("the hook does not run without cordon: this shows nothing (%v)", err)
	}
}

// When cordon or the command is killed, what it wrote is in its layer. The next command says so, and one line
// places it, or drops it.
func TestExecKilledStays(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"--place", "--drop"} {
		for name, kill := range map[string]string{"cordon": "echo 1 >ready; sleep 600", "the command": "echo 1 >ready; kill -9 $$"} {
			t.Run(line+" "+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				dir := plainDirectory(s)
				r := s.start(nil, "-C", dir, "exec", "--", "sh", "-c", plantRepository+"; rm x; "+kill)
				if name == "cordon" {
					r.until(filepath.Join(dir, "ready"))
					if o := s.cordon([]int{0}, "ls"); strings.Contains(o.err, "was not placed") { // it runs
						t.Errorf("%+v", o)
					}
					r.signal(syscall.SIGKILL)
				}
				r.awaitEnd()
				s.wantNames(dir, "x")
				o := s.cordon([]int{0}, "ls")
				named := regexp.MustCompile(`what sh wrote in ` + dir + ` was not placed: .* was killed. To place it: cordon exec --place (\d+); to drop it: cordon exec --drop (\d+)`).FindStringSubmatch(o.err)
				if named == nil {
					t.Fatalf("%+v", o)
				}
				o = s.cordon([]int{0}, "exec", line, named[1])
				if line == "--place" {
					s.wantNames(dir, "ready")
					if !strings.Contains(o.err, "kept "+dir+"/.git aside as ") {
						t.Errorf("%+v", o)
					}
				} else {
					s.wantNames(dir, "x")
				}
				if o := s.cordon([]int{0}, "ls"); strings.Contains(o.err, "was not placed") {
					t.Errorf("it is said again: %+v", o)
				}
				if o := s.cordon([]int{3}, "exec", line, named[1]); !strings.Contains(o.err, "keeps nothing under the name") {
					t.Errorf("%+v", o)
				}
				s.wantNames(s.place("state/cordon/.execs"))
			})
		}
	}
}

// wantNames demands that a directory holds these names and no others.
func (s *site) wantNames(dir string, names ...string) {
	s.t.Helper()
	entries, err := os.ReadDir(dir)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || !slices.Equal(got, names) {
		s.t.Errorf("%s holds %q, want %q (%v)", dir, got, names, err)
	}
}

// A cordon that is killed before its command begins leaves a directory without a record. The
// next one removes it, and not one that may be made at this moment.
func TestExecDraftsAreRemovedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	left, young := filepath.Dir(s.write("state/cordon/.execs/exec-1/record", "")), filepath.Dir(s.write("state/cordon/.execs/exec-2/record", ""))
	written := filepath.Dir(s.write("state/cordon/.execs/exec-3/record", "{"))
	s.write("state/cordon/.execs/exec-3/layers/dir-0/upper/x", "x\n")
	long := time.Now().Add(-time.Hour)
	for _, dir := range []string{left, written} {
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	s.cordon([]int{0}, "ls")
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a killed cordon left is still there")
	}
	for _, dir := range []string{young, written} {
		if _, err := os.Lstat(dir); err != nil {
			t.Error(err)
		}
	}
}

// Signals that are meant for the command do not end cordon while it looks at what the
// command has left.
func TestExecSweepsInSpiteOfSignals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.start(nil, "exec", "--", "sh", "-c", `trap "" QUIT; trap "exit 0" TERM; mkdir planted many; (cd planted; `+plantRepository+`)
		cd many; seq 20000 | xargs mkdir; echo y > ../ready; while :; do sleep 0.01; done`)
	r.until(filepath.Join(s.repo, "ready"))
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil { // the command ends, and cordon looks
		t.Fatal(err)
	}
	n := 0
	r.site.await("cordon has ended", func() bool {
		if r.over() {
			return true
		}
		_ = r.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
		n++
		return false
	})
	if _, err := os.Lstat(filepath.Join(s.repo, "planted/.git")); err == nil || n == 0 {
		t.Errorf("the repository is still there after %d signals: %+v", n, ended(r.cmd, r.out.String(), r.errs.String()))
	}
}
