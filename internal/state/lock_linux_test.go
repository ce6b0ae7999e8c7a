package state

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has the files of this one until its exec. A lock that was given back is
// free in spite of that, however it was taken.
func TestLockEndsBesideAFork(t *testing.T) {
	d := Dir{path: t.TempDir()}
	for how, take := range map[string]func() (func(), error){
		"Lock":        func() (func(), error) { return d.Lock("some.lock", false) },
		"Share":       func() (func(), error) { return d.Share("some.lock") },
		"Unshared":    func() (func(), error) { return d.Unshared("some.lock") },
		"Await":       func() (func(), error) { return d.Await(t.Context(), "some.lock") },
		"LockWorker":  func() (func(), error) { return d.LockWorker("some-worker") },
		"AwaitWorker": func() (func(), error) { return d.AwaitWorker(t.Context(), "some-worker") },
	} {
		release, err := take()
		if err != nil {
			t.Fatal(how, err)
		}
		name := "some.lock"
		if how == "LockWorker" || how == "AwaitWorker" {
			name = WorkerLock("some-worker")
		}
		asForked(t, filepath.Join(d.path, name))
		if _, err := d.Unshared(name); err == nil {
			t.Errorf("%s locks nothing", how)
		}
		release()
		again, err := d.Unshared(name)
		if err != nil {
			t.Fatalf("%s is held by a copy of its descriptor: %v", how, err)
		}
		again()
	}
}

// asForked copies the descriptors of a file, as a fork does.
func asForked(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err != nil || to != file {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		held, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(held) })
		copied++
	}
	if copied == 0 {
		t.Fatalf("no descriptor of %s", file)
	}
}
