package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// pathCases are programs, libraries and scripts that variables of the operator's lead to.
var pathCases = map[string]obeyedCase{
	"a git in the tree on PATH": {
		prepare: `repo A`, env: []string{"PATH=@/plain/venv/bin:" + os.Getenv("PATH")},
		attack: `program venv/bin/git`, use: `git status || true`, said: "/venv/bin/git aside as ",
	},
	"a program of a setting in the tree on PATH": {
		prepare: `repo A; git config --global core.fsmonitor 'watcher --all'`, env: []string{"PATH=" + os.Getenv("PATH") + ":@/plain/venv/bin"},
		attack: `program venv/bin/watcher`, use: `use A`, said: "/venv/bin/watcher aside as ",
	},
	"a library of git's": { // one that the loader takes, and cannot load
		prepare: `mkdir lib`, env: []string{"LD_LIBRARY_PATH=@/plain/lib"},
		attack: `echo x >lib/libz.so.1`, use: `git version || touch ~/PWN`, said: "/lib/libz.so.1 aside as ",
	},
	"a file that every bash runs": {
		prepare: `true`, env: []string{"BASH_ENV=@/plain/env"},
		attack: `echo 'touch ~/PWN' >env`, use: `bash -c true`, said: "/env aside as ",
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
	only := s.command("ls")
	only.Env = append(only.Env, "PATH="+s.repo+"/bin")
	if o := s.try(only); o.code == 0 || ran() || !strings.Contains(o.err, s.repo+"/bin/git is the only git on PATH") {
		t.Errorf("%+v", o)
	}
	if s.try(s.process("sh", "-c", "git status")); !ran() {
		t.Error("the operator's shell does not find that git: this shows nothing")
	}
}

// A virtual environment of the operator's that is active in another terminal gets no program that people type.
func TestExecShadowsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	bin := filepath.Dir(s.write("plain/.venv/bin/activate", "x\n"))
	plant := `for n in git ls sudo cordon; do printf '#!/bin/sh\ntouch ~/PWN_%s\n' $n >.venv/bin/$n; chmod +x .venv/bin/$n; done; ln -s python .venv/bin/sh; echo x >.venv/bin/pip; mkdir -p evil v; cp .venv/bin/git evil; ln -s ../evil v/bin`
	use := func() (ran []string) {
		cmd := s.process("bash", "-c", "git status; ls; sudo true; cordon ls")
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		s.try(cmd)
		ran, _ = filepath.Glob(filepath.Join(s.home, "PWN_*"))
		return ran
	}
	o := s.try(s.command("-C", dir, "exec", "--", "sh", "-c", plant))
	if ran := use(); len(ran) > 0 || strings.Count(o.err, "on its PATH would run") != 6 {
		t.Errorf("%v %+v", ran, o)
	}
	s.wantNames(bin, "activate", "pip")
	cmd := s.process("sh", "-c", plant)
	cmd.Dir = dir
	s.try(cmd)
	if ran := use(); len(ran) != 4 {
		t.Errorf("without cordon %v ran: this shows nothing", ran)
	}
}

// What is written at once is nothing that the operator's git or shell is led to, and has no name elsewhere.
func TestExecLiveRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, said string }{
		"hooks":        {"git init -q .; git config core.hooksPath .githooks", "/plain/.githooks"},
		"a program":    {"git config --global core.pager @/plain/pager", "/plain/pager"},
		"PATH":         {"mkdir bin", "/plain/bin/"},
		"a repository": {"git init -q sub", "/plain/sub/.git"},
		"a hard link":  {"ln x ../y", "/plain/x"},
		"nothing":      {"git init -q .", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := plainDirectory(s)
			prepare := s.process("sh", "-ec", strings.ReplaceAll(c.prepare, "@", filepath.Dir(dir)))
			prepare.Dir = dir
			if o := s.try(prepare); o.code != 0 {
				t.Fatalf("%+v", o)
			}
			cmd := s.command("-C", dir, "exec", "--live", "--", "sh", "-c", "echo 1 >ready; cat seen")
			if name == "PATH" {
				cmd.Env = append(cmd.Env, "PATH="+dir+"/bin:"+os.Getenv("PATH"))
			}
			s.write("plain/seen", "yes\n")
			o := s.try(cmd)
			_, err := os.Lstat(filepath.Join(dir, "ready"))
			if c.said == "" {
				if err != nil || o.out != "yes\n" || !strings.Contains(o.err, "--live: cordon does not check what the command writes") {
					t.Errorf("%v %+v", err, o)
				}
			} else if o.code != 3 || err == nil || !strings.Contains(o.err, c.said) {
				t.Errorf("%v %+v", err, o)
			}
		})
	}
}

// What a shell or an editor obeys in a directory of the operator's is kept aside, also where the command made a part of its
// path, and whatever the directories around are called. In a directory of its own it is placed: nothing was ever told to trust
// that.
func TestExecEditorsAndShells(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := filepath.Dir(s.write("vendor/plain/x", "x\n"))
	policy := s.write("policy.yaml", "version: 1\nfilesystem:\n  write_roots: [\".\"]\n  deny_write: [\"docs/**\"]\n")
	s.write("vendor/plain/again/x", "x\n")
	s.write("vendor/plain/node_modules/p/.npmrc", "x\n")
	o := s.cordon([]int{0}, "-C", dir, "exec", "--policy", policy, "--", "sh", "-ec", `echo x >.envrc; rm -r again node_modules
		mkdir -p again node_modules/p/.vscode; echo x >again/.envrc; echo x >again/y; echo x >node_modules/p/.vscode/tasks.json; mkdir -p .vscode .cargo docs/sub own/.vscode trick
		echo x >.vscode/tasks.json; echo x >.vscode/extensions.json; echo x >.cargo/config.toml; echo x >docs/sub/a; echo x >own/.envrc; echo x >own/.vscode/tasks.json
		echo x >trick/tasks.json; ln -s trick .zed; echo x >cordon.yaml`)
	for _, f := range []string{".envrc", ".vscode/tasks.json", ".cargo/config.toml", "docs/sub/a", ".zed", "cordon.yaml", "again/.envrc", "again/x", "node_modules/p/.npmrc"} {
		if _, err := os.Lstat(filepath.Join(dir, f)); err == nil || !strings.Contains(o.err, "kept "+filepath.Join(dir, f)+" aside as ") && !slices.Contains([]string{"docs/sub/a", "again/x", "node_modules/p/.npmrc"}, f) {
			t.Errorf("%s: %v\n%s", f, err, o.err)
		}
	}
	for _, f := range []string{".vscode/extensions.json", "own/.envrc", "own/.vscode/tasks.json", "trick/tasks.json", "again/y", "node_modules/p/.vscode/tasks.json"} {
		if _, err := os.Lstat(filepath.Join(dir, f)); err != nil {
			t.Errorf("%v\n%s", err, o.err)
		}
	}
}
