package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// adoptedSite is a repository with a submodule that is not in its linked worktree W.
func adoptedSite(t *testing.T) (s *site, tree string, sh func(dir, text string) outcome) {
	t.Helper()
	s = newSite(t)
	tree = s.place("W")
	sh = func(dir, text string) outcome {
		cmd := s.process("sh", "-c", obeyedPrelude+text)
		cmd.Dir = dir
		return s.try(cmd)
	}
	o := sh(s.repo, `repo ../S; git -c protocol.file.allow=always submodule --quiet add ../S sub; echo a >a; git add .; git commit -q -m sub
		git worktree add -q ../W; git config core.hooksPath later`)
	if o.code != 0 {
		t.Fatalf("%+v", o)
	}
	return s, tree, sh
}

// After a worker in an adopted checkout, the operator's git there runs nothing of what it
// left, the audit has it, and it is kept.
func TestAdoptedObeyed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ attack, found, kept string }{
		"a repository in the place of a submodule": {attack: "plant sub"},
		"a new repository":                         {"plant new; rm -f x", "new/.git", "fsmonitor"},
		"a repository in an ignored directory":     {"mkdir build; echo '*' >build/.gitignore; plant build/x", "build/x/.git", "fsmonitor"},
		"hooks that were not there":                {"hook later", "later", "PWN"},
		"a link to hooks":                          {"hook src/h; ln -s src/h later", "later", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			use := "use . ; for d in sub new build/x; do git -C $d status || true; done"
			s, tree, sh := adoptedSite(t)
			sh(tree, c.attack)
			sh(tree, use)
			pwn := filepath.Join(s.home, "PWN")
			if _, err := os.Lstat(pwn); err != nil {
				t.Fatalf("git runs nothing without cordon: this shows nothing (%v)", err)
			}

			s, tree, sh = adoptedSite(t)
			pwn = filepath.Join(s.home, "PWN")
			o := s.try(s.command("run", "--merge", "--adopt", tree, "--", "sh", "-c", obeyedPrelude+c.attack))
			sh(tree, use)
			if _, err := os.Lstat(pwn); err == nil {
				t.Errorf("git ran what the worker left: %+v", o)
			}
			if c.found == "" {
				return
			}
			w := s.only()
			said := s.cordon([]int{0, 1, 4}, "audit", w.Worker).out
			if w.Status != "quarantined" || !strings.Contains(o.err, "/W/"+c.found+" aside as ") || !strings.Contains(said, c.found) {
				t.Errorf("it is %s, and this was said:\n%s%s", w.Status, o.err, said)
			}
			if !keptAside(s, c.kept) {
				t.Errorf("what was moved aside is gone:\n%s", o.err)
			}
		})
	}
}

// A hook that is there is not written through a second name of its file either.
func TestAdoptedSecondName(t *testing.T) {
	t.Parallel()
	play := func(start func(s *site, tree string) *exec.Cmd) (outcome, bool) {
		s, tree, sh := adoptedSite(t)
		o := sh(tree, `hook later; echo : >later/post-index-change; mkdir lib; ln later/post-index-change lib/h; git add .; git commit -q -m hook`)
		if o.code != 0 {
			t.Fatalf("%+v", o)
		}
		o = s.try(start(s, tree))
		sh(tree, "use .")
		_, err := os.Lstat(filepath.Join(s.home, "PWN"))
		return o, err == nil
	}
	attack := obeyedPrelude + "program lib/h"
	_, ran := play(func(s *site, tree string) *exec.Cmd {
		cmd := s.process("sh", "-c", attack)
		cmd.Dir = tree
		return cmd
	})
	if !ran {
		t.Fatal("git runs nothing without cordon: this shows nothing")
	}
	o, ran := play(func(s *site, tree string) *exec.Cmd {
		return s.command("run", "--merge", "--adopt", tree, "--", "sh", "-c", attack)
	})
	if ran {
		t.Errorf("git ran what the worker wrote (%v): %+v", ran, o)
	}
}

// keptAside reports whether a text is in what cordon keeps of what it moved aside.
func keptAside(s *site, text string) bool {
	found := false
	_ = filepath.WalkDir(s.place("state/cordon/aside"), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := os.ReadFile(p)
			found = found || strings.Contains(string(b), text)
		}
		return nil
	})
	return found || text == ""
}

// When cordon is killed together with the worker, the next command places what it wrote and keeps aside
// what was planted, and the audit has it all the same.
func TestAdoptedKilledIsPlacedLater(t *testing.T) {
	t.Parallel()
	s, tree, _ := adoptedSite(t)
	r := s.start(nil, "run", "--merge", "--adopt", tree, "--", "sh", "-c", obeyedPrelude+"plant new; echo 1 >ready; sleep 600")
	r.until(filepath.Join(tree, "ready"))
	r.signal(syscall.SIGKILL)
	planted, ready := filepath.Join(tree, "new", ".git"), filepath.Join(tree, "ready")
	for _, at := range []string{planted, ready} {
		if _, err := os.Lstat(at); err == nil {
			t.Errorf("%s is in the tree before anybody has looked at it", at)
		}
	}
	id := s.only().Worker
	o := s.try(s.command("merge", id))
	if w := s.only(); w.Status != "quarantined" || !strings.Contains(s.cordon([]int{0, 1, 4}, "audit", id).out, "new/.git") {
		t.Errorf("%+v", w)
	}
	if _, err := os.Lstat(ready); err != nil || !strings.Contains(o.err, planted+" aside as ") {
		t.Errorf("%v %+v", err, o)
	}
}

// A write root that is the directory of hooks itself is the worker's, as in its lease.
func TestAdoptedWriteRootOfHooks(t *testing.T) {
	t.Parallel()
	s, tree, _ := adoptedSite(t)
	policy := s.write("policy.yaml", "version: 1\nfilesystem:\n  write_roots: [later, .]\n")
	o := s.try(s.command("run", "--merge", "--policy", policy, "--adopt", tree, "--", "sh", "-c", "mkdir later; echo x >later/x"))
	if _, err := os.Lstat(filepath.Join(tree, "later", "x")); err != nil || strings.Contains(o.err, "aside") {
		t.Errorf("%v %+v", err, o)
	}
}

// What a worker cannot see is not replaced by its own, also behind a link.
func TestAdoptedHiddenStays(t *testing.T) {
	t.Parallel()
	s, tree, sh := adoptedSite(t)
	sh(tree, `mkdir conf; echo theirs >conf/real; ln -s conf/real .env; echo .env >.gitignore; echo conf >>.gitignore`)
	policy := s.write("policy.yaml", "version: 1\nfilesystem:\n  write_roots: [.]\n  deny_read: [.env]\n")
	o := s.try(s.command("run", "--merge", "--policy", policy, "--adopt", tree, "--", "sh", "-c", "cat conf/real .env; mkdir -p conf; echo mine >conf/real; rm -f .env; echo mine >.env"))
	for _, f := range []string{"conf/real", ".env"} {
		if b, err := os.ReadFile(filepath.Join(tree, f)); err != nil || string(b) != "theirs\n" {
			t.Errorf("%s holds %q, %v: %+v", f, b, err, o)
		}
	}
	if strings.Contains(o.out+o.err, "theirs") || !strings.Contains(o.err, "/W/conf/real aside as ") {
		t.Errorf("%+v", o)
	}
}
