package cell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/cell/plan"
)

// changes are ways to change a tree that holds file and the directory dir.
var changes = []string{
	"echo x >new", "echo x >>file", ": >file", "mkdir made", "mkfifo pipe", "ln -s file link", "ln file hard", "mv file other && mv other file",
	"rm -r dir && mkdir dir", "chmod 600 file", "chmod 700 .", "touch -d 2001-01-01 file", "touch dir/new",
}

// sealedRooms are a tree that is bound and one that is copied on write, each with a repository that
// stays open.
func sealedRooms(t *testing.T) map[string]*room {
	t.Helper()
	bound, copied := newRoom(t), newRoom(t)
	for _, r := range []*room{bound, copied} {
		r.put(filepath.Join(r.tree, "file"), "theirs\n")
		r.put(filepath.Join(r.tree, "dir/f"), "theirs\n")
		r.put(filepath.Join(r.tree, ".git/HEAD"), "x\n")
		r.order.Layers = t.TempDir()
	}
	bound.order.Pinned = []string{filepath.Join(bound.tree, ".git")}
	base := copied.tree
	copied.tree = filepath.Join(filepath.Dir(base), "seen")
	if err := os.Mkdir(copied.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	copied.put(filepath.Join(copied.order.Layers, "tree/upper/above"), "above\n")
	copied.order.Write, copied.command.Dir = nil, copied.tree
	copied.order.Over = []plan.Over{
		{At: copied.tree, Below: []string{base}, Layer: "tree"},
		{At: filepath.Join(copied.tree, ".git"), Below: []string{filepath.Join(base, ".git")}, Layer: "git"},
	}
	return map[string]*room{"bound": bound, "copied on write": copied}
}

// TestSealedTree tries to change a tree that is only looked at. In the same cell without the seal, each
// of the attempts succeeds.
func TestSealedTree(t *testing.T) {
	for name, r := range sealedRooms(t) {
		t.Run(name, func(t *testing.T) {
			r.t = t
			before := r.sh("ls -lR --time-style=full-iso file dir; cat file")
			r.order.Sealed = []string{r.tree}
			if got := r.sh("ls -lR --time-style=full-iso file dir; cat file"); got != before {
				t.Errorf("a sealed tree looks different:\n%s\nand without the seal:\n%s", got, before)
			}
			for _, line := range changes {
				if exit, out, err := r.run("sh", "-c", line); err != nil || exit.OK() || !strings.Contains(out, "Read-only file system") {
					t.Errorf("%q: %+v, %v\n%s", line, exit, err, out)
				}
			}
			for _, line := range []string{"mount -o remount,rw .", "mount -o remount,bind,rw .", "umount .", "mount -t tmpfs none .", "unshare -rm mount -o remount,rw ."} {
				if exit, out, err := r.run("sh", "-c", line); err != nil || exit.OK() || strings.Contains(out, "not found") {
					t.Errorf("%q: %+v, %v\n%s", line, exit, err, out)
				}
			}
			r.sh(`echo x >.git/index.lock && mv .git/index.lock .git/index && echo x >~/f && echo x >/tmp/f && cp -r . /tmp/copy && echo x >/tmp/copy/file`)
			if got := r.sh("rm -f .git/index; cat file"); got != "theirs\n" {
				t.Errorf("the file holds %q", got)
			}
			r.order.Sealed = nil
			for _, line := range changes {
				r.sh(line)
			}
		})
	}
}

// TestSealedTreeIsProven: what a cell reports as proven includes the seal, and a seal of something else is
// refused.
func TestSealedTreeIsProven(t *testing.T) {
	for name, r := range sealedRooms(t) {
		r.order.Sealed = []string{r.tree}
		var told Launch
		r.command.Started = func(l Launch) error { told = l; return nil }
		r.sh("true")
		if !slices.Contains(told.Proven, "read-only tree") {
			t.Errorf("%s: proven is %v", name, told.Proven)
		}
		r.order.Sealed = []string{r.outside}
		if exit, out, err := r.run("true"); err == nil || exit.Reason != NotStarted {
			t.Errorf("%s: a seal of %s: %+v, %v, %s", name, r.outside, exit, err, out)
		}
	}
}

// TestSealedTreeWithoutNamespaces: Landlock alone keeps files from being written, made and removed.
// It knows nothing of modes and times.
func TestSealedTreeWithoutNamespaces(t *testing.T) {
	r := sealedRooms(t)["bound"]
	r.t = t
	r.order.Sealed = []string{r.tree}
	done, err := keepPlaces(&r.order)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	run := func(line string) (bool, string) {
		exit, out, err := r.without(plan.Namespaces, "sh", "-c", line)
		if err != nil {
			t.Fatal(err)
		}
		return exit.OK(), out
	}
	if ok, out := run("cat file && echo x >.git/index"); !ok || out != "theirs\n" {
		t.Errorf("reading, and the repository: %s", out)
	}
	for _, line := range changes {
		if strings.HasPrefix(line, "chmod") || strings.HasPrefix(line, "touch -d") {
			continue
		}
		if ok, out := run(line); ok || !strings.Contains(out, "Permission denied") {
			t.Errorf("%q: %t\n%s", line, ok, out)
		}
	}
	r.order.Sealed = nil
	for _, line := range changes {
		if ok, out := run(line); !ok {
			t.Errorf("the control fails: %q\n%s", line, out)
		}
	}
}
