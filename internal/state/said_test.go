package state

import (
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
