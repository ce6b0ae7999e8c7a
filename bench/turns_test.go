package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/testground"
)

// This binary also plays parts of a measurement in other processes.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "git" {
		fmt.Fprintln(os.Stderr, "bench:", countedGit())
		os.Exit(1)
	}
	if len(os.Args) > 1 {
		if part, found := parts[os.Args[1]]; found {
			if err := part(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, "bench:", err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(testground.Run("bench", m))
}

var parts = map[string]func(args []string) error{"work": workPart, "took": tookPart, "json": jsonPart, "ask": askPart}

// turns are the times of things that are measured in turns, by their names.
type turns map[string][]time.Duration

func (t turns) time(b *testing.B, name string, act func() error) {
	b.Helper()
	began := time.Now()
	if err := act(); err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	t[name] = append(t[name], time.Since(began))
}

// compare logs a row: how long one thing takes, compared with another.
func (t turns) compare(b *testing.B, what, goal, one, other string) {
	b.Helper()
	if len(t[one]) == 0 || len(t[other]) == 0 {
		b.Fatalf("%s or %s was not measured", one, other)
	}
	logRow(b, what, goal, fmt.Sprintf("%s (%s, %s); medians %s",
		ratio(slices.Min(t[one]), slices.Min(t[other])), short(slices.Min(t[one])), short(slices.Min(t[other])), ratio(median(t[one]), median(t[other]))))
}

func logRow(b *testing.B, what, goal, measured string) {
	b.Helper()
	b.Logf("%s| %s | %s | %s |", rowMark, what, goal, measured)
}

func ratio(a, b time.Duration) string {
	if a < b {
		return fmt.Sprintf("÷ %.1f", float64(b)/float64(a))
	}
	return fmt.Sprintf("× %.2f", float64(a)/float64(b))
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f ms", float64(d)/1e6)
}

// place is a directory that a sandbox with a /tmp of its own still sees, with cordon's state in it.
func place(b *testing.B) string {
	b.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, "cordon-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { erase(b, dir) })
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return dir
}

// erase deletes a directory of ours, also where a cell has locked a part of it.
func erase(b *testing.B, dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		b.Error("left behind:", err)
	}
}

// cordon builds the program as releases are built and copies it, as an installer does: the linker writes
// through a mapping, so that the kernel keeps its output in single pages until it is read from the disk again,
// and every start takes a quarter longer.
func cordon(b *testing.B, dir string) string {
	b.Helper()
	out := filepath.Join(dir, "cordon")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out+".linked", "../cmd/cordon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	copyProgram(b, out+".linked", out)
	return out
}

// self is a copy of this binary where a cell sees it.
func self(b *testing.B, dir string) string {
	b.Helper()
	me, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	copyProgram(b, me, filepath.Join(dir, "self"))
	return filepath.Join(dir, "self")
}

func copyProgram(b *testing.B, from, to string) {
	b.Helper()
	text, err := os.ReadFile(from)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755)); err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// run runs a command in a directory and returns its standard output.
func run(dir string, argv ...string) (string, error) { return runWith(dir, nil, "", argv...) }

func runWith(dir string, environ []string, input string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, append(os.Environ(), environ...), strings.NewReader(input), &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said.String())
	}
	return string(out), nil
}

func must(b *testing.B, dir string, argv ...string) string {
	b.Helper()
	out, err := run(dir, argv...)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// writeFiles makes files below a directory.
func writeFiles(b *testing.B, dir string, files map[string]string) {
	b.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
}

// firstCommit makes a repository of the files that are there.
func firstCommit(b *testing.B, dir string) {
	b.Helper()
	for _, words := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-qm", "base"}, {"status"}} {
		must(b, dir, append([]string{"git"}, words...)...)
	}
}

// settle waits until what one step wrote is on the disk, so that the next does not pay for it.
func settle() { unix.Sync() }

// countedGit notes that git was called, and becomes the real one.
func countedGit() error {
	me, err := os.Executable()
	if err != nil {
		return err
	}
	if f, err := os.OpenFile(filepath.Join(filepath.Dir(me), gitLog), os.O_WRONLY|os.O_APPEND, 0); err == nil {
		fmt.Fprintln(f)
		f.Close()
	}
	real, err := os.Readlink(filepath.Join(filepath.Dir(me), realGit))
	if err != nil {
		return err
	}
	return syscall.Exec(real, append([]string{"git"}, os.Args[1:]...), os.Environ())
}

// The names beside this program where it stands in for git.
const (
	gitLog  = "calls"
	realGit = "real"
)
