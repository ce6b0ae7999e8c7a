package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"cordon/internal/background"

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
	ended := make(chan outcome, 1)
	go func() { ended <- s.try(s.command("logs", "-f", id)) }()
	select {
	case got := <-ended:
		t.Fatalf("it ended before the worker began: %+v", got)
	case <-time.After(3 * followPause): // whoever does not wait is gone by then, or a little later
	}
	s.cordon([]int{0}, "resume", id)
	if got := <-ended; got.code != 0 || got.out != "here\n" {
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
	for deadline := time.Now().Add(30 * time.Second); background.Lives(said[0]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has ended and still holds the lock")
		}
	}
}
