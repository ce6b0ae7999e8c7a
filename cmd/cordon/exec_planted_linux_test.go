package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
	if _, err := os.Lstat(planted); err == nil || !strings.Contains(out, "/plain/.git aside to ") {
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
	if o := s.try(s.command("-C", dir, "exec", "--", "sh", "-c", hook)); o.code == 0 || !strings.Contains(o.err, "Read-only") {
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

// When cordon is killed, the next command disarms what was planted.
func TestExecKilledIsSweptLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	r := s.start(nil, "-C", dir, "exec", "--", "sh", "-c", plantRepository+"; echo 1 >ready; sleep 600")
	r.until(filepath.Join(dir, "ready"))
	// While it runs, others leave it alone.
	if o := s.cordon([]int{0}, "ls"); strings.Contains(o.err, "aside") {
		t.Errorf("%+v", o)
	}
	r.signal(syscall.SIGKILL)
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	o := s.cordon([]int{0}, "ls")
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || !strings.Contains(o.err, "killed together with cordon: moved "+dir+"/.git aside to ") {
		t.Errorf("%v %+v", err, o)
	}
	if o := s.cordon([]int{0}, "ls"); strings.Contains(o.err, "aside") {
		t.Errorf("it is said twice: %+v", o)
	}
}

// A cordon that is killed before its command begins leaves a draft of its record. The
// next one removes it, and not one that may be written at this moment.
func TestExecDraftsAreRemovedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	left, young := s.write("state/cordon/.execs/new-1", "{"), s.write("state/cordon/.execs/new-2", "{")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left, long, long); err != nil {
		t.Fatal(err)
	}
	s.cordon([]int{0}, "ls")
	if _, err := os.Lstat(left); err == nil {
		t.Error("the draft of a killed cordon is still there")
	}
	if _, err := os.Lstat(young); err != nil {
		t.Error(err)
	}
}

// Signals that are meant for the command do not end cordon while it looks at what the
// command has left.
func TestSlowExecSweepsInSpiteOfSignals(t *testing.T) {
	slow(t)
	t.Parallel()
	s := newSite(t)
	r := s.start(nil, "exec", "--", "sh", "-c", `trap "" QUIT; mkdir planted many; (cd planted; `+plantRepository+`)
		cd many; seq 20000 | xargs mkdir; echo y > ../ended`)
	r.until(filepath.Join(s.repo, "ended"))
	for n := 0; ; n++ {
		select {
		case <-r.done:
			if _, err := os.Lstat(filepath.Join(s.repo, "planted/.git")); err == nil || n == 0 {
				t.Errorf("the repository is still there after %d signals: %+v", n, ended(r.cmd, r.out.String(), r.errs.String()))
			}
			return
		case <-time.After(5 * time.Millisecond):
			_ = r.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
		}
	}
}
