package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A program is asked again when it is another file, and when what is remembered could have
// been written by others.
func TestSaid(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	program, asked := filepath.Join(t.TempDir(), "tool"), 0
	ask := func() (string, error) { asked++; return "tool 1.0", nil }
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(program+".new", []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(program+".new", program); err != nil {
			t.Fatal(err)
		}
	}
	said := func(want int) {
		t.Helper()
		if text, err := Said(program, ask); err != nil || text != "tool 1.0" || asked != want {
			t.Fatalf("%q, %v, asked %d times, want %d", text, err, asked, want)
		}
	}
	write("one")
	said(1)
	said(2) // cordon keeps nothing yet
	if err := os.Mkdir(filepath.Join(home, "cordon"), 0o700); err != nil {
		t.Fatal(err)
	}
	said(3)
	said(3)
	write("two")
	said(4)
	said(4)
	if err := os.Chmod(filepath.Join(home, "cordon", saidFile), 0o666); err != nil {
		t.Fatal(err)
	}
	said(5)
	said(5)
}

// What stands in the place of other programs is asked each time: those are replaced, and it
// stays the same file.
func TestSaidByShims(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	if err := os.Mkdir(filepath.Join(home, "cordon"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(at, text string) string {
		t.Helper()
		at = filepath.Join(dir, at)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	link := func(to, at string) string {
		t.Helper()
		at = filepath.Join(dir, at)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	for program, want := range map[string]int{
		link(write(".volta/bin/volta-shim", "\x7fELF"), ".volta/bin/client"):    2,
		link(write("bin/mise", "\x7fELF"), "mise/shims/client"):                 2,
		write("asdf/shims/client", "#!/usr/bin/env node\n"):                     2,
		write("wrapped/client", "#!/usr/bin/env bash\nexec other"):              2,
		write("plain/client", "#! /bin/sh\nexec other"):                         2,
		link(write("lib/client.js", "#!/usr/bin/env node\n"), "npm/bin/client"): 1,
		link(write("versions/2/client", "\x7fELF"), "local/bin/client"):         1,
	} {
		asked := 0
		for range 2 {
			if _, err := Said(program, func() (string, error) { asked++; return "1.0", nil }); err != nil {
				t.Fatal(err)
			}
		}
		if asked != want {
			t.Errorf("%s was asked %d times, not %d", program, asked, want)
		}
	}
}
