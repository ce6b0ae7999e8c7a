package state

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// The sum of a file is that of what is in it now, also of one that was written anew with the
// size and the time that it had. A new name does not make it another file.
func TestSum(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	if err := os.Mkdir(filepath.Join(home, "cordon"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	when := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(text string) {
		t.Helper()
		want, err := SumOf(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := Sum(file); err != nil || got != want || got != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
				t.Fatalf("%s: %q, %v, want %q", text, got, err, want)
			}
		}
	}
	write("one")
	sum("one")
	clock := func() time.Time { // as the kernel reads it for files
		t.Helper()
		now := filepath.Join(filepath.Dir(file), "now")
		if err := os.WriteFile(now, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(now)
		if err != nil {
			t.Fatal(err)
		}
		return fi.ModTime()
	}
	first := clock()
	testwait.Until(t, "the kernel's clock has gone on", func() bool { return clock().After(first) })
	write("two")
	sum("two")
	if err := os.Link(file, file+".link"); err != nil {
		t.Fatal(err)
	}
	KeepSum(file, "believed")
	if got, err := Sum(file); err != nil || got != "believed" {
		t.Errorf("%q, %v", got, err)
	}
	write("three")
	sum("three")
}

// What is remembered stays bounded.
func TestSaidOfMany(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	if err := os.Mkdir(filepath.Join(home, "cordon"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range mostSaid + 20 {
		program := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(program, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Said(program, func() (string, error) { return "1", nil }); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]said{}
	if readSaid(saidAt(), &known); len(known) != mostSaid {
		t.Errorf("%d answers are kept, want %d", len(known), mostSaid)
	}
}
