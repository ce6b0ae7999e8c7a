package state

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A question is asked again where the program is another file, where nothing can be kept, and
// where others could have written the answer.
func TestRecalled(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	real, err := RealRoot()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "tool")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	asked := 0
	want := func(question, text string, times int) {
		t.Helper()
		got, err := Recalled(program, question, func() (string, error) { asked++; return text, nil })
		if err != nil || got != text || asked != times {
			t.Errorf("%q, %v, asked %d times instead of %d", got, err, asked, times)
		}
	}
	want("q", "a secret", 1)
	want("q", "a secret", 2) // cordon keeps nothing yet
	if err := os.MkdirAll(real, 0o700); err != nil {
		t.Fatal(err)
	}
	want("q", "a secret", 3)
	want("q", "a secret", 3)
	want("another", "b", 4)
	if _, err := Recalled(program, "fails", func() (string, error) { return "", errors.New("no") }); err == nil {
		t.Error("a failure is no answer")
	}
	want("fails", "c", 5)
	kept, err := filepath.Glob(filepath.Join(real, answers, "*"))
	if err != nil || len(kept) != 3 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, at := range kept {
		if text, err := os.ReadFile(at); err != nil || bytes.Contains(text, []byte("secret")) {
			t.Errorf("%s is readable: %q, %v", at, text, err)
		}
	}
	for _, at := range kept { // a loss of power
		if err := os.Truncate(at, 0); err != nil {
			t.Fatal(err)
		}
	}
	want("q", "a secret", 6)
	want("q", "a secret", 6)
	for _, at := range kept { // others could have written them
		if err := os.Chmod(at, 0o622); err != nil {
			t.Fatal(err)
		}
	}
	want("q", "a secret", 7)
	write("another program")
	want("q", "d", 8)
}
