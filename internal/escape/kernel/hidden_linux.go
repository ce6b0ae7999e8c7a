package kernel

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Attempts to hold more memory or disk than is allowed where a count of processes does not look: behind
// a first thread that has ended, among descriptors of a thread's own, and in memory that no process shows.

const (
	hiddenMiB    = 192 // where 64 are allowed
	hiddenObject = 16  // at once, less than any limit on one file
)

// hiding holds memory or disk piece by piece, until it has what it wanted.
func hiding(piece func(a *arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		for range hiddenMiB / hiddenObject {
			if err := piece(a); err != nil {
				return err
			}
		}
		a.Hold()
		return a.Leak(fmt.Appendf(nil, "it holds %d MiB", hiddenMiB))
	}
}

func pieceOfMemory(*arena.Arena) error {
	m, err := unix.Mmap(-1, 0, hiddenObject<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	for i := 0; i < len(m); i += os.Getpagesize() {
		m[i] = 1
	}
	return err
}

func namelessInMemory(*arena.Arena) error {
	fd, err := unix.MemfdCreate("hidden", unix.MFD_CLOEXEC)
	return errors.Join(err, fillPiece(fd))
}

func namelessOnDisk(a *arena.Arena) error {
	fd, err := unix.Open(a.Work, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	return errors.Join(err, fillPiece(fd))
}

func fillPiece(fd int) error {
	block := make([]byte, 1<<20)
	for range hiddenObject {
		if _, err := unix.Write(fd, block); err != nil {
			return err
		}
	}
	return nil
}

// secretMemory maps no more of it at once than an ordinary user may lock.
func secretMemory(*arena.Arena) error {
	fd, err := arena.Call(unix.SYS_MEMFD_SECRET, 0)
	if err != nil {
		return err
	}
	if err := unix.Ftruncate(int(fd), hiddenObject<<20); err != nil {
		return err
	}
	const window = 2 << 20
	for at := int64(0); at < hiddenObject<<20; at += window {
		m, err := unix.Mmap(int(fd), at, window, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		for i := 0; i < len(m); i += os.Getpagesize() {
			m[i] = 1
		}
		if err := unix.Munmap(m); err != nil {
			return err
		}
	}
	return nil
}

// withoutFirstThread attacks when the process's first thread has ended.
func withoutFirstThread(attack func(*arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		for !firstThreadEnded() { // whichever thread this runs on, it may go on another after a sleep
			go func() {
				runtime.LockOSThread()
				if unix.Gettid() == unix.Getpid() {
					_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // the runtime takes the thread for one that waits
				}
				select {} // this thread is taken: the next goroutine gets another
			}()
			time.Sleep(time.Millisecond)
		}
		return attack(a)
	}
}

func firstThreadEnded() bool {
	stat, err := os.ReadFile("/proc/self/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// withName attacks from a process that has another name: that of the file it is started from.
func withName(name string, attack func(*arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		if a.Stage != "" {
			return attack(a)
		}
		again := a.StartAgain("named", nil)
		if err := os.Symlink(again.Path, a.In(name)); err != nil {
			return err
		}
		again.Path = a.In(name)
		return again.Run()
	}
}

// withOwnDescriptors attacks on a thread that no longer shares its descriptors with the others.
func withOwnDescriptors(unshare func() error, attack func(*arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		return offFirstThread(func() error {
			if err := unshare(); err != nil {
				return err
			}
			return attack(a)
		})
	}
}

// offFirstThread acts on a thread that ends with the act and is not the first.
func offFirstThread(act func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if unix.Gettid() == unix.Getpid() {
			result <- offFirstThread(act) // this thread waits meanwhile, so it is another one
			return
		}
		result <- act()
	}()
	return <-result
}

func unshareFiles() error { return unix.Unshare(unix.CLONE_FILES) }

func closeRange() error { return unix.CloseRange(1<<20, 1<<20, unix.CLOSE_RANGE_UNSHARE) }
