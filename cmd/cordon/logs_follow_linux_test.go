package main

import (
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/background"
	"cordon/internal/testwait"

	"golang.org/x/sys/unix"
)

// cordon logs -f waits for a worker that cordon run -d has named and not yet begun. The
// control: it does not wait for one that nobody is about to begin.
func TestFollowBeforeTheStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.killed("before:2", "run", "--merge", "--", "sh", "-c", "echo here")
	id := s.only().Worker
	if got := s.cordon([]int{0}, "logs", "-f", id); got.out != "" {
		t.Fatalf("nobody runs it, and it printed %q", got.out)
	}
	// The lock of a cordon in the background that has named its worker.
	dirs, err := filepath.Glob(s.place("state/cordon/*/workers"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if err := os.MkdirAll(filepath.Join(dirs[0], id), 0o700); err != nil {
		t.Fatal(err)
	}
	console, err := os.Create(filepath.Join(dirs[0], id, background.ConsoleFile))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	if err := unix.Flock(int(console.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	r := s.start(nil, "logs", "-f", id)
	// One that does not wait is gone by then, or a little later.
	testwait.Still(t, "logs -f waits for the worker to begin", 3*followPause, func() bool { return !r.over() }, s.evidence)
	s.cordon([]int{0}, "resume", id)
	r.awaitEnd()
	if got := ended(r.cmd, r.out.String(), r.errs.String()); got.code != 0 || got.out != "here\n" {
		t.Errorf("it followed to the end with %d and %q: %s", got.code, got.out, got.err)
	}
}

// The lock is held by the cordon in the background itself, and as long as it runs.
func TestBackgroundHoldsItsConsole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, pid := s.detached("--", "sleep", "600")
	s.becomes("running")
	said, err := filepath.Glob(s.place("state/cordon/*/workers/" + id + "/" + background.ConsoleFile))
	if err != nil || len(said) != 1 {
		t.Fatal(said, err)
	}
	if !background.Lives(said[0]) {
		t.Error("it runs and holds no lock")
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.becomes("interrupted")
	s.await("it has ended, and no longer holds the lock", func() bool { return !background.Lives(said[0]) })
}
