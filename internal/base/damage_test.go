package base

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// tampering is one thing that may happen to the files of a base.
var tampering = map[string]func(base string) error{
	"append and put the time back": func(base string) error {
		return keepingTime(filepath.Join(base, "tree/dir/f"), func(p string) error {
			f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		})
	},
	"same size, time put back": func(base string) error {
		return keepingTime(filepath.Join(base, "tree/dir/f"), func(p string) error { return rewrite(p, bytes.ToUpper) })
	},
	"swap for an equal file": func(base string) error {
		return keepingTime(filepath.Join(base, "tree/dir/f"), func(p string) error {
			b, err := os.ReadFile(p)
			return errors.Join(err, os.WriteFile(p+".tmp", b, 0o644), os.Rename(p+".tmp", p))
		})
	},
	"chmod":              func(base string) error { return os.Chmod(filepath.Join(base, "tree/dir/f"), 0o600) },
	"chmod a directory":  func(base string) error { return os.Chmod(filepath.Join(base, "tree/dir"), 0) },
	"chmod it all":       func(base string) error { return os.Chmod(base, 0) },
	"truncate":           func(base string) error { return os.Truncate(filepath.Join(base, "tree/dir/f"), 0) },
	"delete":             func(base string) error { return os.Remove(filepath.Join(base, "tree/dir/f")) },
	"add a file":         func(base string) error { return os.WriteFile(filepath.Join(base, "tree/dir/new"), nil, 0o644) },
	"add a directory":    func(base string) error { return os.Mkdir(filepath.Join(base, "tree/new"), 0o755) },
	"rename":             func(base string) error { return rename(base, "tree/dir/f", "tree/dir/g") },
	"hard link":          func(base string) error { return os.Link(filepath.Join(base, "tree/dir/f"), filepath.Join(base, "f")) },
	"file to a link":     func(base string) error { return toLink(base, "tree/dir/f", "g") },
	"directory to link":  func(base string) error { return toLink(base, "tree/dir", "/") },
	"tree to a link":     func(base string) error { return toLink(base, "tree", "moved") },
	"index to a link":    func(base string) error { return toLink(base, "index", "moved") },
	"touch":              func(base string) error { return os.Chtimes(filepath.Join(base, "tree/dir/f"), time.Now(), time.Now()) },
	"opaque attribute":   func(base string) error { return setAttribute(filepath.Join(base, "tree/dir")) },
	"remove the files":   func(base string) error { return os.RemoveAll(filepath.Join(base, "tree")) },
	"edit the index":     func(base string) error { return rewrite(filepath.Join(base, "index/index"), flipLast) },
	"truncate the index": func(base string) error { return os.Truncate(filepath.Join(base, "index/index"), 12) },
	"remove the index":   func(base string) error { return os.Remove(filepath.Join(base, "index/index")) },
	"beside the index":   func(base string) error { return os.WriteFile(filepath.Join(base, "index/other"), nil, 0o644) },
	"no record":          func(base string) error { return os.Remove(filepath.Join(base, "base.json")) },
	"empty record":       func(base string) error { return os.Truncate(filepath.Join(base, "base.json"), 0) },
	"record is a link":   func(base string) error { return toLink(base, "base.json", "moved") },
	"record: a number":   func(base string) error { return edit(base, `"files": `, `"files": 1`) },
	"record: a space":    func(base string) error { return edit(base, `"files": `, `"files":  `) },
	"record: a field":    func(base string) error { return edit(base, `"files": `, `"more": 1, "files": `) },
	"record: a version":  func(base string) error { return edit(base, `"format": 1`, `"format": 2`) },
	"record of another": func(base string) error {
		others, err := filepath.Glob(filepath.Join(filepath.Dir(base), "*", "base.json"))
		for _, o := range others {
			if filepath.Dir(o) != base {
				b, rerr := os.ReadFile(o)
				return errors.Join(err, rerr, os.WriteFile(filepath.Join(base, "base.json"), b, 0o600))
			}
		}
		return errors.New("there is no other")
	},
	"a link to it": func(base string) error {
		away := filepath.Join(filepath.Dir(base), "..", "trash", "moved")
		return errors.Join(os.RemoveAll(away), os.Rename(base, away), os.Symlink(away, base))
	},
	"a file": func(base string) error { return errors.Join(os.RemoveAll(base), os.WriteFile(base, nil, 0o600)) },
	"gone":   func(base string) error { return os.RemoveAll(base) },
}

func keepingTime(p string, do func(string) error) error {
	fi, err := os.Lstat(p)
	if err != nil {
		return err
	}
	return errors.Join(do(p), os.Chtimes(p, fi.ModTime(), fi.ModTime()))
}

func rewrite(p string, with func([]byte) []byte) error {
	b, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(p, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(with(b))
	return errors.Join(err, f.Close())
}

func flipLast(b []byte) []byte {
	b[len(b)-1] ^= 1
	return b
}

func rename(base, from, to string) error {
	return os.Rename(filepath.Join(base, from), filepath.Join(base, to))
}

func toLink(base, name, target string) error {
	if target == "moved" {
		if err := rename(base, name, "moved"); err != nil {
			return err
		}
	} else if err := os.RemoveAll(filepath.Join(base, name)); err != nil {
		return err
	}
	return os.Symlink(target, filepath.Join(base, name))
}

func edit(base, old, new string) error {
	p := filepath.Join(base, "base.json")
	b, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte(old)) {
		return errors.New("nothing to edit in " + string(b))
	}
	return os.WriteFile(p, bytes.Replace(b, []byte(old), []byte(new), 1), 0o600)
}

// Whatever happens to a base or to what it lies on: it is never used, and the next
// who asks gets a right one.
func TestDamage(t *testing.T) {
	for layer, which := range []string{"itself", "middle", "bottom"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, git.SHA1, damageable()...)
			for i, name := range slices.Sorted(maps.Keys(tampering)) {
				if i%3 == layer {
					w.damage(name, layer)
				}
			}
		})
	}
}

func TestDamageAll(t *testing.T) {
	for layer, which := range []string{"itself", "middle", "bottom"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, git.SHA1, damageable()...)
			for name := range tampering {
				w.damage(name, layer)
			}
		})
	}
}

// damageable are trees of which each is a layer on the one before.
func damageable() []map[string]node {
	one := map[string]node{"dir/f": file("content"), "dir/g": file("g"), "dir/h": file("h"), "top": file("x")}
	two := maps.Clone(one)
	two["dir/f"] = file("changed")
	delete(two, "dir/h")
	three := maps.Clone(two)
	three["dir/f"] = file("again")
	return []map[string]node{one, two, three}
}

// damage makes three layers, does something to one, and asks for what they hold.
func (w *world) damage(name string, layer int) {
	w.t.Helper()
	var b Base
	for _, c := range w.commits {
		b = w.ensureOnLast(c)
	}
	if len(b.Layers) != 3 {
		w.t.Fatalf("%+v", b)
	}
	if err := tampering[name](filepath.Dir(b.Layers[layer])); errors.Is(err, unix.ENOTSUP) {
		w.t.Logf("%s: this file system cannot do that", name)
	} else if err != nil {
		w.t.Fatal(err)
	} else if err := w.store.Verify(context.Background(), b); !damaged(err) {
		w.t.Errorf("%s: it was not noticed: %v", name, err)
	} else if again := w.ensure(w.commits[2]); again.Made == "" {
		w.t.Errorf("%s: it was used: %+v", name, again)
	}
	// Nor is the one that was changed used when it is asked for.
	for _, c := range slices.Backward(w.commits) {
		w.check(w.ensure(c), c)
	}
	w.removeAll()
	if w.t.Failed() {
		w.t.Fatal(name)
	}
}

// removeAll removes every base for good, layers first.
func (w *world) removeAll() {
	w.t.Helper()
	all, err := w.store.List()
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Kept) int { return b.Depth - a.Depth })
	for _, k := range all {
		if err := w.store.Remove(context.Background(), k.Key, func() (bool, error) { return false, nil }, time.Now()); err != nil {
			w.t.Fatal(err)
		}
	}
	w.empty()
	trashed, err := w.store.State.Trashed()
	for _, d := range trashed {
		err = errors.Join(err, w.store.State.Erase(d.Path))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A layer on a base that was made again is not right any more, though its own files
// are: the index has the stat data of files that are gone.
func TestBelowMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1"), "b": file("1")}, map[string]node{"a": file("1"), "b": file("2")})
	w.layersOnly()
	below, top := w.ensure(w.commits[0]), w.ensure(w.commits[1])
	if len(top.Layers) != 2 || top.Layers[1] != below.Layers[0] {
		t.Fatalf("%+v", top)
	}
	if err := os.Chmod(filepath.Join(below.Layers[0], "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.check(w.ensure(w.commits[0]), w.commits[0])
	if err := w.store.Verify(context.Background(), top); !damaged(err) {
		t.Errorf("it was not noticed: %v", err)
	}
	if _, there, err := w.store.Find(context.Background(), w.host.Repo, w.commits[1]); there || err != nil {
		t.Errorf("it was found: %v, %v", there, err)
	}
	again := w.ensure(w.commits[1])
	if again.Made == "" {
		t.Error("it was used")
	}
	w.check(again, w.commits[1])
}

// A process that has no descriptor left, or is asked to stop, knows nothing of a
// base: it must not take it for damaged.
func TestTroubleOfOursIsNoDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1")})
	w.ensure(w.commits[0])
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.store.sound(ctx, w.key(0)); damaged(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := broken("x", "its files", &os.PathError{Op: "open", Path: "p", Err: unix.EMFILE}); damaged(err) {
		t.Errorf("%v", err)
	}
	if b := w.ensure(w.commits[0]); b.Made != "" {
		t.Errorf("made again: %+v", b)
	}
}

func (w *world) key(i int) string {
	w.t.Helper()
	tree, err := w.host.TreeOf(context.Background(), w.commits[i])
	if err != nil {
		w.t.Fatal(err)
	}
	return string(tree)
}

// empty says that nothing is in the store but locks.
func (w *world) empty() {
	w.t.Helper()
	names, err := filepath.Glob(w.store.State.Base("*"))
	if err != nil {
		w.t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(p string) bool { return strings.HasSuffix(p, "lock") })
	if len(names) > 0 {
		w.t.Errorf("left behind: %q", names)
	}
}

func TestWhatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1"), "b": file("2")})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := w.store.Ensure(ctx, w.host.Repo, w.commits[0], func(done, total int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	w.empty()
	blob := strings.TrimSpace(w.plain(w.host.Top, []byte("2"), "hash-object", "--stdin"))
	w.unpack()
	if err := os.Remove(filepath.Join(w.host.ObjectsDir(), blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Ensure(context.Background(), w.host.Repo, w.commits[0], nil); err == nil {
		t.Error("a base without one of its files")
	}
	w.empty()
	if _, err := w.store.Ensure(context.Background(), w.host.Repo, git.OID(strings.Repeat("12", 20)), nil); err == nil {
		t.Error("a base of no commit")
	}
}

// unpack makes every object of the repository a file.
func (w *world) unpack() {
	w.t.Helper()
	packs, err := filepath.Glob(filepath.Join(w.host.ObjectsDir(), "pack", "*.pack"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range packs {
		data, err := os.ReadFile(p)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, part := range []string{".pack", ".idx", ".rev"} {
			os.Remove(strings.TrimSuffix(p, ".pack") + part)
		}
		w.plain(w.host.Top, data, "unpack-objects", "-q")
	}
}

// The repository that the objects come from is read and not written, and needs not
// be writable.
func TestSourceIsOnlyRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1"), "b/c": file("2")}, map[string]node{"a": file("3"), "b/c": file("2")})
	closeAll := func(mode os.FileMode) {
		filepath.WalkDir(w.host.Dir, func(p string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				os.Chmod(p, mode)
			}
			return nil
		})
	}
	closeAll(0o555)
	defer closeAll(0o755)
	before, err := sumOf(context.Background(), w.host.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.commits {
		w.ensure(c)
	}
	after, err := sumOf(context.Background(), w.host.Dir)
	if err != nil || after.digest != before.digest {
		t.Errorf("the repository was changed: %v", err)
	}
	closeAll(0o755)
	for _, c := range w.commits {
		w.check(w.ensure(c), c)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1"), "b": file("1")}, map[string]node{"a": file("1"), "b": file("2")})
	w.layersOnly()
	ctx, now := context.Background(), time.Unix(1700000000, 5)
	below, top := w.ensure(w.commits[0]), w.ensure(w.commits[1])
	free := func() (bool, error) { return false, nil }
	want := func(what string, err error, ok bool) {
		t.Helper()
		if ok && err != nil || !ok && !errors.Is(err, ErrNeeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
	want("another lies on it", w.store.Remove(ctx, below.Key, free, now), false)
	want("a worker needs it", w.store.Remove(ctx, top.Key, func() (bool, error) { return true, nil }, now), false)
	unknown := errors.New("unknown")
	if err := w.store.Remove(ctx, top.Key, func() (bool, error) { return false, unknown }, now); !errors.Is(err, unknown) {
		t.Errorf("nobody knows: %v", err)
	}
	release, err := w.store.Hold(top.Key)
	if err != nil || !w.store.Held(top.Key) {
		t.Errorf("it is not held: %v", err)
	}
	want("somebody works on it", w.store.Remove(ctx, top.Key, free, now), false)
	release()
	for end := time.Now().Add(time.Minute); w.store.Held(top.Key); { // a process that another test starts holds it until its exec
		if time.Now().After(end) {
			t.Fatal("it is still held")
		}
	}
	for _, c := range w.commits {
		if b := w.ensure(c); b.Made != "" {
			t.Errorf("a refused removal removed: %+v", b)
		}
	}
	want("nobody needs it", w.store.Remove(ctx, top.Key, free, now), true)
	want("a second time", w.store.Remove(ctx, top.Key, free, now), true)
	want("nothing lies on it now", w.store.Remove(ctx, below.Key, free, now), true)
	w.empty()
	trashed, err := w.store.State.Trashed()
	if err != nil || len(trashed) != 2 || !trashed[0].When.Equal(now) {
		t.Errorf("%+v, %v", trashed, err)
	}
	for _, key := range []string{"", "..", "x", "../trees/x", below.Key + ".new"} {
		if err := w.store.Remove(ctx, key, free, now); err == nil {
			t.Errorf("%q was removed", key)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("1"), "b": file("1")}, map[string]node{"a": file("1"), "b": file("2")})
	w.layersOnly()
	if all, err := w.store.List(); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	start := time.Now().Add(-time.Second)
	below, top := w.ensure(w.commits[0]), w.ensure(w.commits[1])
	if err := os.Mkdir(w.store.newOf(strings.Repeat("0", 40)), 0o700); err != nil {
		t.Fatal(err)
	}
	bad := strings.Repeat("1", 40)
	if err := os.Mkdir(w.store.State.Base(bad), 0o700); err != nil {
		t.Fatal(err)
	}
	w.ensure(w.commits[0])
	all, err := w.store.List()
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if all[0].Key != below.Key || all[0].Below != "" || all[0].Depth != 1 || all[0].Files != 2 || all[0].Bytes == 0 {
		t.Errorf("%+v", all[0])
	}
	for _, k := range all {
		if k.Broken != (k.Key == bad) || !k.Broken && (k.Made.Before(start) || k.Used.Before(k.Made.Truncate(time.Second))) {
			t.Errorf("%+v", k)
		}
		if k.Key == top.Key && (k.Below != below.Key || k.Depth != 2) {
			t.Errorf("%+v", k)
		}
	}
	if err := w.store.Sweep(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(w.store.newOf("*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
