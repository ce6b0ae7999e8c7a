package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// pathCases are programs, libraries and scripts that variables of the operator's lead to.
var pathCases = map[string]obeyedCase{
	"a git in the tree on PATH": {
		prepare: `repo A`, env: []string{"PATH=@/plain/venv/bin:" + os.Getenv("PATH")},
		attack: `program venv/bin/git`, use: `git status || true`, said: "/venv/bin/git aside to ",
	},
	"a program of a setting in the tree on PATH": {
		prepare: `repo A; git config --global core.fsmonitor 'watcher --all'`, env: []string{"PATH=" + os.Getenv("PATH") + ":@/plain/venv/bin"},
		attack: `program venv/bin/watcher`, use: `use A`, said: "/venv/bin/watcher aside to ",
	},
	"a library of git's": { // one that the loader takes, and cannot load
		prepare: `mkdir lib`, env: []string{"LD_LIBRARY_PATH=@/plain/lib"},
		attack: `echo x >lib/libz.so.1`, use: `git version || touch ~/PWN`, said: "/lib/libz.so.1 aside to ",
	},
	"a file that every bash runs": {
		prepare: `true`, env: []string{"BASH_ENV=@/plain/env"},
		attack: `echo 'touch ~/PWN' >env`, use: `bash -c true`, said: "/env aside to ",
	},
}

// Nothing that a command under exec wrote is found in the place of the operator's programs.
func TestExecPath(t *testing.T) { playObeyed(t, pathCases) }

// A virtual environment that is active can be made and changed.
func TestExecVirtualEnvironmentOnPath(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	s.env = append(s.env, "PATH="+dir+"/.venv/bin:"+os.Getenv("PATH"), "LD_LIBRARY_PATH="+dir+"/lib", "PYTHONPATH="+dir+"/src", "ENV=production")
	s.git("config", "--global", "core.fsmonitor", "python3 -c pass")
	work := `set -e; mkdir -p .venv/bin lib src production; for f in python python3 pip pip3 activate black pytest; do echo x >>.venv/bin/$f; done
		echo x >>lib/libmine.so; echo x >>src/a.py; echo x >>production/a`
	for range 2 { // the second time, all is there
		o := s.try(s.command("-C", dir, "exec", "--", "sh", "-c", work))
		if o.code != 0 || strings.Contains(o.err, "aside") || strings.Contains(o.err, "CAREFUL") {
			t.Errorf("%+v", o)
		}
		work = strings.ReplaceAll(work, "python3 ", "") // your git runs it
	}
}

// cordon itself runs no git that lies where commands write: in a checkout, or where a
// command under exec runs or was killed.
func TestPassesOverWrittenGit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	if err := os.Chmod(s.write("repo/bin/git", "#!/bin/sh\ntouch ~/PWN\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+s.repo+"/bin:"+dir+"/bin:bin:"+os.Getenv("PATH"))
	ran := func() bool {
		_, err := os.Lstat(filepath.Join(s.home, "PWN"))
		return err == nil
	}
	for _, args := range [][]string{{"ls"}, {"doctor"}, {"exec", "--", "true"}, {"run", "--", "true"}} {
		if o := s.try(s.command(args...)); ran() {
			t.Fatalf("cordon %v ran the git of the checkout: %+v", args, o)
		}
	}
	r := s.start(nil, "-C", dir, "exec", "--", "sh", "-c", obeyedPrelude+"program bin/git; echo 1 >ready; sleep 600")
	r.until(filepath.Join(dir, "ready"))
	if o := s.cordon([]int{0}, "ls"); ran() {
		t.Errorf("cordon ran the git of a command that runs: %+v", o)
	}
	r.signal(syscall.SIGKILL)
	if o := s.cordon([]int{0}, "ls"); ran() || !strings.Contains(o.err, "/bin/git aside to ") {
		t.Errorf("cordon ran the git of a command that was killed, or left it: %+v", o)
	}
	only := s.command("ls")
	only.Env = append(only.Env, "PATH="+s.repo+"/bin")
	if o := s.try(only); o.code == 0 || ran() || !strings.Contains(o.err, s.repo+"/bin/git is the only git on PATH") {
		t.Errorf("%+v", o)
	}
	if s.try(s.process("sh", "-c", "git status")); !ran() {
		t.Error("the operator's shell does not find that git: this shows nothing")
	}
}
