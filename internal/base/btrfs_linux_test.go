package base

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/testfile"
)

// onBtrfsAgain is set in a process that runs the tests once more.
const onBtrfsAgain = "CORDON_BASE_BTRFS"

// Every test of this package holds on btrfs too.
func TestAllOnBtrfs(t *testing.T) {
	if os.Getenv(onBtrfsAgain) != "" {
		t.Skip("this is on btrfs")
	}
	at := testfile.Btrfs(t)
	ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.v", "-test.run", ".", "-test.skip", "^Test(RandomHistories|FlatHistories|DamageAll|KilledAll)$", "-test.timeout", "10m")
	cmd.Env, cmd.WaitDelay = append(os.Environ(), onBtrfsAgain+"=1", "TMPDIR="+at), 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// flatWorld is a world on btrfs.
func flatWorld(t *testing.T, format git.Format, trees ...map[string]node) *world {
	t.Helper()
	if os.Getenv(onBtrfsAgain) == "" {
		t.Skip("run by TestAllOnBtrfs")
	}
	w := newWorld(t, format, trees...)
	if !w.store.Snapshots() {
		t.Fatal("no snapshots here")
	}
	return w
}

// A base near another one begins as a snapshot of it, lies on none, and is what a
// checkout is. The first one stays what it was.
func TestFlat(t *testing.T) {
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			one := odd(format)
			delete(one, ".gitattributes") // plain git obeys it
			two := maps.Clone(one)
			set(two, "README", file("changed\n"))
			set(two, "run", file("no longer executable\n"))
			set(two, "dir/deep", file("was a directory"))
			set(two, "link/now", file("was a link"))
			set(two, "sub/module", file("was a submodule"))
			set(two, "a.id", submodule(format, 2))
			set(two, "new\nline", link("was a directory"))
			clear(two, "\xff\xfe")
			w := flatWorld(t, format, one, two, one)
			first := w.ensure(w.commits[0])
			w.check(first, w.commits[0])
			b := w.ensure(w.commits[1])
			if !strings.HasPrefix(b.Made, "snapshot of ") || len(b.Layers) != 1 || !isSubvolume(b.Layers[0]) {
				t.Errorf("%q of %v", b.Made, b.Layers)
			}
			w.check(b, w.commits[1])
			w.check(first, w.commits[0])
			if again := w.ensure(w.commits[2]); again.Made != "" {
				t.Errorf("the first one again: %q", again.Made)
			}
		})
	}
}

// No file beside a base has the number of a file in it, on a disk as new as this too.
func TestNumbersAreNotSharedWithABase(t *testing.T) {
	tree := map[string]node{}
	for i := range 3000 {
		tree[fmt.Sprintf("d%d/f%d", i%7, i)] = file("x")
	}
	w := flatWorld(t, git.SHA1, tree)
	got, err := sumOf(context.Background(), w.ensure(w.commits[0]).Layers[0])
	if err != nil || got.inode < 3000 {
		t.Fatalf("%d, %v", got.inode, err)
	}
	if next, err := nextInode(w.store.State.Path()); err != nil || next <= got.inode {
		t.Errorf("the next file is %d, and one of the base %d: %v", next, got.inode, err)
	}
}

// snapshotOf is a worker's tree: a copy of a base with the repository beside it.
func (w *world) snapshotOf(b Base) string {
	w.t.Helper()
	to := filepath.Join(w.t.TempDir(), "tree")
	if err := w.store.Snapshot(b, to); err != nil {
		w.t.Fatal(err)
	}
	return to
}

// A snapshot is a checkout that git need not read, and what is written in it does not
// reach the base.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	one := odd(git.SHA1)
	delete(one, ".gitattributes") // git reads it
	two := maps.Clone(one)
	set(two, "README", file("changed\n"))
	w := flatWorld(t, git.SHA1, one, two)
	o := &outside{TB: t}
	for _, c := range w.commits {
		b := w.ensure(c)
		w.check(b, c)
		to := w.snapshotOf(b)
		same(t, c, look(t, to), merged(t, b.Layers))
		v := view{GitDir: w.private(b, c)}
		if out, opened := v.status(o, to); out != "" || len(opened) > 0 {
			t.Errorf("git says %q and reads %q", out, opened)
		}
		// The control: a file that was touched is read, and found unchanged.
		now := time.Now()
		if err := os.Chtimes(filepath.Join(to, "dir/deep/g"), now, now); err != nil {
			t.Fatal(err)
		}
		if out, opened := v.status(o, to); out != "" || !slices.Equal(opened, []string{"g"}) {
			t.Errorf("touched: git says %q and reads %q", out, opened)
		}
		f, err := os.OpenFile(filepath.Join(to, "README"), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("EVIL")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || os.RemoveAll(filepath.Join(to, "dir")) != nil || os.Chmod(to, 0o700) != nil {
			t.Fatal(err)
		}
		w.check(b, c)
		if err := os.RemoveAll(to); err != nil {
			t.Error(err)
		}
		w.check(b, c)
	}
}

// A base that is not there any more, or not a subvolume, gives no snapshot.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	w := flatWorld(t, git.SHA1, map[string]node{"a": file("a")})
	b := w.ensure(w.commits[0])
	to := filepath.Join(w.t.TempDir(), "tree")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]Base{
		"there already": b,
		"no subvolume":  {Key: b.Key, Layers: []string{b.Index}},
		"two layers":    {Key: b.Key, Layers: []string{b.Layers[0], b.Layers[0]}},
	} {
		if err := w.store.Snapshot(broken, to); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	r, err := w.store.read(b.Key)
	if err != nil {
		t.Fatal(err)
	}
	r.Sum = "another"
	if err := w.store.snapshot(r, filepath.Join(to, "x")); err != errMoved {
		t.Errorf("made again meanwhile: %v", err)
	}
	w.removeAll()
	if err := w.store.Snapshot(b, filepath.Join(to, "y")); err == nil {
		t.Error("gone: made")
	}
}

// Where btrfs refuses, a plain directory will do, and layers on it.
func TestSnapshotsRefused(t *testing.T) {
	t.Parallel()
	w := flatWorld(t, git.SHA1, map[string]node{"a": file("a")}, map[string]node{"a": file("b")})
	b := w.ensure(w.commits[0])
	below, err := w.store.load(b.Key)
	if err != nil {
		t.Fatal(err)
	}
	if !w.store.flat(below) || w.store.flat(append(below, below...)) {
		t.Error("one layer is flat, and two are not")
	}
	w.makeLayerOn(below, w.commits[1])
	if b = w.ensure(w.commits[1]); len(b.Layers) != 2 {
		t.Fatalf("%v", b.Layers)
	}
	w.check(b, w.commits[1])
	if err := w.store.Snapshot(b, filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("made of a layer")
	}
}

// An ordinary user makes bases and snapshots, and removes them.
func TestSnapshotsOfAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	w := flatWorld(t, git.SHA1, map[string]node{"a": file("a")}, map[string]node{"a": file("b"), "b": file("b")})
	if os.Getuid() != 0 {
		t.Skip("every other test shows it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(w.dir, "test")
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(w.dir, "user")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	for d := w.dir; d != "/" && d != "/tmp"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(place, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "-test.v", "-test.run", "^(TestFlat|TestSnapshot|TestKilled)$")
	cmd.Dir, cmd.Env = place, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + place, "TMPDIR=" + place, onBtrfsAgain + "=1"}
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("--- SKIP")) || !bytes.Contains(out, []byte("--- PASS: TestSnapshot ")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A line of history through flat bases, in any order.
func TestFlatHistories(t *testing.T) {
	at := testfile.Btrfs(t)
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestRandomHistories$|^TestKilledAll$", "-test.timeout", "15m")
	cmd.Env = append(os.Environ(), onBtrfsAgain+"=1", "TMPDIR="+at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// stale removes what is in a directory before the directory, and leaves what stays.
func TestStale(t *testing.T) {
	const dir, reg, sub, no = git.Directory, git.Regular, git.Gitlink, git.Absent
	got := strings.Join(stale([]git.Delta{
		change("a", dir, dir), change("a/b", reg, reg), change("a-b", reg, no), change("c", no, reg),
		change("d", dir, no), change("d", no, sub), change("d/e", reg, no), change("d-e", sub, sub), change("s", sub, reg),
	}), " ")
	if want := "s d/e d a/b a-b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
