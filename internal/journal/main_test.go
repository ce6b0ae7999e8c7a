package journal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testground"
)

// roles are what the test binary does when it is started again as a process of
// its own, with the journal's directory as argument.
var roles = map[string]func(dir string) error{}

const roleVar = "JOURNAL_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(testground.Run("internal/journal", m))
	}
	play, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(2)
	}
	if err := play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// actor returns a command that plays a role on dir.
func actor(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, dir)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// fatal is what *testing.T and *rapid.T have in common.
type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func must[T any](t fatal, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return v
}

func open(t fatal, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	return must(t, j, err)
}

func add(t fatal, j *Journal, typ string, data any) Event {
	t.Helper()
	e, err := j.Append("calm-otter", typ, data)
	return must(t, e, err)
}

func all(t fatal, dir string) []Event {
	t.Helper()
	es, err := open(t, dir).Events()
	return must(t, es, err)
}

func verify(t fatal, dir string) Report {
	t.Helper()
	r, err := Verify(dir)
	return must(t, r, err)
}

func get(t fatal, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	return must(t, b, err)
}

func put(t fatal, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}

// sample makes a journal of n small events and returns its lines.
func sample(t fatal, dir string, n int) []string {
	t.Helper()
	j := open(t, dir)
	for i := range n {
		add(t, j, "test.sample", map[string]any{"n": i, "text": "a<b> & \u00e9\u2028"})
	}
	lines := strings.SplitAfter(string(get(t, dir, File)), "\n")
	return lines[:n]
}

// refused asserts that all three ways to use a journal report damage, and that
// none of them changes it.
func refused(t fatal, dir string) *Corruption {
	t.Helper()
	before := string(get(t, dir, File))
	r := verify(t, dir)
	if r.Problem == nil {
		t.Fatalf("Verify found nothing: %+v", r)
	}
	es, err := open(t, dir).Events()
	if c, ok := errors.AsType[*Corruption](err); !ok || *c != *r.Problem || es != nil {
		t.Fatalf("Events: %d events, error %v; Verify said %v", len(es), err, r.Problem)
	}
	_, err = open(t, dir).Append("", "test.more", nil)
	if c, ok := errors.AsType[*Corruption](err); !ok || *c != *r.Problem {
		t.Fatalf("Append: error %v; Verify said %v", err, r.Problem)
	}
	if !strings.Contains(err.Error(), "cordon journal repair") {
		t.Fatalf("the error does not say what to type: %v", err)
	}
	if string(get(t, dir, File)) != before {
		t.Fatalf("a refused journal was changed")
	}
	return r.Problem
}

// memoryDir is a directory that goes with the test, in memory where the system has such a
// place. It is for tests that write thousands of journals: fsync costs nothing there.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cordon-journal-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
