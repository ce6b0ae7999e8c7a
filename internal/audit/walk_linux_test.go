package audit

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// ordinary calls f as a user whom permissions bind. For root that is a thread
// with another user's access to files, which ends with the call.
func ordinary(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is thrown away
		_, err := unix.SetfsuidRetUid(65534)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A directory that cannot be read, and one whose files cannot be looked at, are
// violations. What the base has there is not called deleted.
func TestUnreadableDirectories(t *testing.T) {
	top := t.TempDir()
	for d := top; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	plant(t, top, map[string]string{"locked/x": "1", "listed/y": "1", "open/z": "1"})
	for name, mode := range map[string]os.FileMode{"locked": 0, "listed": 0o444} {
		full := filepath.Join(top, name)
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(full, 0o755) })
	}
	tree := treeOf(t, top, map[string]string{"locked/x": "1", "listed/y": "1", "open/z": "1", "gone": "1"})
	var s *survey
	var err error
	ordinary(t, func() { s, err = walk(top, false, false, maxEntries, nil) })
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(tree, s)
	if err := c.hash(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	got := map[string]Change{}
	for _, ch := range c.changes() {
		got[string(ch.Path)] = ch
	}
	wantKinds(t, got, map[string]Kind{"locked": Unreadable, "listed/y": Unreadable, "gone": Deleted})

	// The control: whoever may read it finds nothing wrong.
	for _, name := range []string{"locked", "listed"} {
		if err := os.Chmod(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	wantKinds(t, collect(t, tree), map[string]Kind{"gone": Deleted})
}

// An unreadable place is a violation even where the base's rules ignore it: the
// base may have files there.
func TestUnreadableIsNotIgnored(t *testing.T) {
	for _, c := range []Change{
		{Path: "build", Kind: Unreadable, Ignored: true},
		{Path: "build", Kind: Unreadable},
	} {
		if f := Classify([]Change{c}, writes(t, "."))[0]; f.Class != Violation {
			t.Errorf("%+v is %s", c, f.Class)
		}
	}
}
