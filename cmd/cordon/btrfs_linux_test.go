package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"cordon/internal/testfile"
)

// btrfsSite is a site whose state lies on btrfs, or a reason why there is none.
func btrfsSite(t *testing.T, tree string) *site {
	t.Helper()
	at := testfile.Btrfs(t)
	s := newSite(t)
	s.env = append(s.env, "XDG_STATE_HOME="+at, "CORDON_TREE="+tree)
	return s
}

// subvolumes are those of the state.
func (s *site) subvolumes() string {
	s.t.Helper()
	for _, kv := range s.env {
		if at, ok := strings.CutPrefix(kv, "XDG_STATE_HOME="); ok && strings.HasSuffix(at, "mounted") {
			out, err := exec.Command("find", at, "-inum", "256", "-mindepth", "1").CombinedOutput()
			if err != nil {
				s.t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		}
	}
	s.t.Fatal("no btrfs")
	return ""
}

// The whole way of a worker, with its state on btrfs: both kinds of trees.
func TestOnBtrfs(t *testing.T) {
	for _, tree := range []string{"copy", "overlay"} {
		t.Run(tree, func(t *testing.T) {
			t.Parallel()
			s := btrfsSite(t, tree)
			made := map[string]string{"copy": "a snapshot of ", "overlay": "copied on write"}[tree]
			o := s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", `test -z "$(git status --porcelain)" && echo two >src/a.txt && echo new >src/n.txt && rm -r docs`)
			if !strings.Contains(o.err, made) || !strings.Contains(o.err, "checkout of 2 files") || !strings.Contains(o.err, "  merged") {
				t.Errorf("%s%s", o.out, o.err)
			}
			o = s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", `test -z "$(git status --porcelain)" && test "$(cat src/a.txt)" = two && test ! -e docs && test -z "$(find . | xargs stat -c %d:%i | sort | uniq -d)" && echo three >src/a.txt`)
			if !strings.Contains(o.err, made) || !strings.Contains(o.err, "snapshot of ") || !strings.Contains(o.err, "  merged") {
				t.Errorf("%s%s", o.out, o.err)
			}
			// What workers wrote did not reach the bases: the next one is whole.
			o = s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", `test -z "$(git status --porcelain)" && cat src/a.txt && echo four >src/a.txt`)
			if !strings.Contains(o.out, "three") {
				t.Errorf("%s%s", o.out, o.err)
			}
			all := s.workers()
			s.cordon([]int{0}, "discard", "--yes", all[len(all)-1].Worker)
			// One that leaves its lease, and one that forbids its own removal.
			s.write("strict.yaml", "version: 1\nfilesystem:\n  write_roots: [src]\n")
			o = s.cordon([]int{0, 1, 2, 3, 4}, "run", "--merge", "--policy", s.place("strict.yaml"), "--", "sh", "-c", "echo out >evil.txt; btrfs property set -ts . ro true; :")
			if !strings.Contains(o.out+o.err, "quarantined") {
				t.Errorf("%s%s", o.out, o.err)
			}
			all = s.workers()
			s.cordon([]int{0}, "discard", "--yes", all[len(all)-1].Worker)
			s.cordon([]int{0}, "gc", "--yes", "--wait")
			if left := s.subvolumes(); strings.Contains(left, "/bases/") || strings.Contains(left, "/trees/") {
				t.Errorf("left: %s", left)
			}
			s.cordon([]int{0}, "log", "verify")
		})
	}
}

// cordon is killed at any moment while it makes a snapshot, and goes on.
func TestKilledSnapshotting(t *testing.T) {
	t.Parallel()
	s := btrfsSite(t, "copy")
	s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", "echo 0 >src/n")
	torn := 0
	for i := range 12 {
		cmd := s.command("run", "--merge", "--", "sh", "-c", "echo more >>src/n")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(20+15*i)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		for _, w := range s.workers() {
			if w.Status == "merged" || w.Status == "discarded" {
				continue
			}
			torn++
			if o := s.cordon([]int{0}, "resume", w.Worker); !strings.Contains(o.err, "  merged") {
				t.Errorf("round %d: %s%s", i, o.out, o.err)
			}
		}
	}
	t.Logf("%d were interrupted", torn)
	s.cordon([]int{0}, "gc", "--yes", "--wait")
	if left := s.subvolumes(); left != "" {
		t.Errorf("left: %s", left)
	}
	s.cordon([]int{0}, "log", "verify")
}
