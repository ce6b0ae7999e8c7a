package base

import (
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/git"
)

// A look serves everybody who asked before it began, and nobody else.
func TestVerifyTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": {git.Regular, "a"}, "b/c": {git.Regular, "c"}})
	b := w.ensure(w.commits[0])
	c, err := w.store.load(b.Key)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() looks {
		t.Helper()
		l, ok := w.store.readLooks(b.Key)
		if !ok {
			t.Fatal("nobody has looked")
		}
		return l
	}
	sound := func(what string, asked looks, want bool) {
		t.Helper()
		if err := w.store.verifySince(t.Context(), c, asked); (err == nil) != want || err != nil && !damaged(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	change := func() {
		t.Helper()
		if err := os.Chmod(filepath.Join(b.Layers[0], "a"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sound("a base that was just made", looks{}, true)
	first, second := ask(), ask()
	sound("the first to ask", first, true)
	change()
	sound("who asked before that look began", second, true)
	sound("who asked afterwards", ask(), false)
	sound("who could read nothing", looks{}, false)

	begun := ask() // by somebody who looks all the while
	begun.begun++
	w.store.writeLooks(b.Key, begun)
	meanwhile := ask()
	begun.found = begun.begun
	w.store.writeLooks(b.Key, begun)
	sound("who asked while it was looked at", meanwhile, false)

	earlier := ask()
	for what, spoil := range map[string]func(*looks){
		"other mounts":   func(l *looks) { l.as = c[0].Sum + "@mnt:[1]" },
		"another record": func(l *looks) { l.as = "0@" + mounts() },
		"another series": func(l *looks) { l.series = "other" },
	} {
		l := ask()
		l.begun += 2
		l.found = l.begun
		l.as = c[0].Sum + "@" + mounts()
		control := l
		w.store.writeLooks(b.Key, control)
		sound("the control of "+what, earlier, true)
		spoil(&l)
		w.store.writeLooks(b.Key, l)
		sound(what, earlier, false)
		l.series, l.found = earlier.series, earlier.found
		w.store.writeLooks(b.Key, l)
	}
	if err := os.WriteFile(filepath.Join(w.store.State.Path(), w.store.looksOf(b.Key)), []byte("x 1 9999 y"), 0o600); err != nil {
		t.Fatal(err)
	}
	sound("a file that is not one of ours", earlier, false)
}

// Nobody waits for long for a process that was stopped while it looked.
func TestVerifyBesideAStoppedProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": {git.Regular, "a"}})
	b := w.ensure(w.commits[0])
	release, err := w.store.State.Lock(w.store.looksOf(b.Key)+".lock", false)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := w.store.Verify(t.Context(), b); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(filepath.Join(b.Layers[0], "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Verify(t.Context(), b); !damaged(err) {
		t.Errorf("a changed base: %v", err)
	}
}
