package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stopping is a git for the proof: it stops in the middle of the proof's change of a ref,
// when the ref or its lock is there, and says so in the worker's repository.
const stopping = `#!/bin/sh
if [ -z "$CORDON_WORKER" ] || [ -e "$HOME/bin/once" ]; then exec GIT "$@"; fi
dir=$(GIT rev-parse --absolute-git-dir)
stop() {
	until ls "$dir"/refs/cordon/proof-* >/dev/null 2>&1; do sleep 0.01; done
	mkdir -p "$dir/stopped"
	sleep 600
}
case "$*" in
"update-ref --stdin") { head -n 3; stop; } | exec GIT "$@" ;;
"update-ref -d refs/cordon/proof-"*) stop ;;
esac
exec GIT "$@"
`

// A cordon that is killed while its cell is being proven leaves nothing that the worker
// is accused of.
func TestKilledInTheProof(t *testing.T) {
	s := newSite(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	s.program("git", strings.ReplaceAll(stopping, "GIT", real))
	r := s.start(nil, "run", "--merge", "--write", "src", "--", "sh", "-c", "echo more >>src/a.txt")
	r.awaitState("layers/*/git/upper/stopped", "trees/*/.git/stopped")
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.awaitEnd()
	s.write("home/bin/once", "")
	id := s.only().Worker
	o := s.cordon([]int{0}, "resume", id)
	if !strings.Contains(o.err, "merged into main") {
		t.Errorf("%s%s", o.out, o.err)
	}
	if s.landed(id) != 1 {
		t.Errorf("it has not landed:\n%s", s.git("log", "--stat", "main"))
	}
	s.sound()
}

// A ref that the proof of an older version left is nothing that the worker is accused of.
// What only resembles one is.
func TestOldProof(t *testing.T) {
	t.Parallel()
	const nonce = "ABCDEFGHIJKLMNOPQRSTUVWX27"
	for name, c := range map[string]struct {
		tree, message, ref string
		code               int
	}{
		"left":               {"HEAD^{tree}", "proof " + nonce, "refs/cordon/proof-" + nonce, 0},
		"of another message": {"HEAD^{tree}", "proof of " + nonce, "refs/cordon/proof-" + nonce, 4},
		"of more files":      {"$(git add -A; git write-tree)", "proof " + nonce, "refs/cordon/proof-" + nonce, 4},
		"by another name":    {"HEAD^{tree}", "proof " + nonce, "refs/cordon/proof-x" + nonce, 4},
		"on an own branch":   {"HEAD^{tree}", "proof " + nonce, "refs/heads/proof-" + nonce, 4},
		"of its own commit":  {"HEAD^{tree}", "proof " + nonce, "refs/cordon/proof-" + nonce, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			script := "echo more >>src/a.txt; "
			if name == "of its own commit" {
				script += "git commit -qam more; "
			}
			script += "git update-ref " + c.ref + " $(git commit-tree " + c.tree + " -m '" + c.message + "')"
			if o := s.cordon([]int{c.code}, "run", "--merge", "--write", "src", "--", "sh", "-c", script); c.code == 0 && !strings.Contains(o.err, "merged into main") {
				t.Errorf("%s%s", o.out, o.err)
			}
		})
	}
}

// program puts a program before all others in the PATH of cordon and its cells.
func (s *site) program(name, text string) {
	s.t.Helper()
	at := s.write("home/bin/"+name, text)
	if out, err := exec.Command("chmod", "755", at).CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	for i, v := range s.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			s.env[i] = "PATH=" + filepath.Dir(at) + ":" + rest
		}
	}
}

// awaitState waits until one of some patterns has a match in the state.
func (r *running) awaitState(patterns ...string) {
	r.t.Helper()
	r.await(strings.Join(patterns, " or ")+" is in the state", func() bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			found, _ := filepath.Glob(filepath.Join(r.place("state"), "cordon", "*", p))
			return len(found) > 0
		})
	})
}
