package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another cordon process holds a lock.
var ErrLocked = errors.New("another cordon process is using it")

// Lock takes the named lock and returns its release. The lock ends with the
// process, however it ends. With wait unset it fails with ErrLocked at once.
func (d Dir) Lock(name string, wait bool) (release func(), err error) {
	f, err := d.lock(name, wait)
	if err != nil {
		return nil, err
	}
	return func() { releaseLock(f) }, nil
}

// LockWorker takes the lock of a worker, or fails with ErrLocked at once. The file names
// this process, for Holder.
func (d Dir) LockWorker(id string) (release func(), err error) {
	f, err := d.lock(WorkerLock(id), false)
	if err != nil {
		return nil, err
	}
	sign(f)
	return func() { releaseLock(f) }, nil
}

// AwaitWorker is LockWorker that waits for its turn, or gives up with ctx.
func (d Dir) AwaitWorker(ctx context.Context, id string) (release func(), err error) {
	f, err := d.await(ctx, WorkerLock(id))
	if err != nil {
		return nil, err
	}
	sign(f)
	return func() { releaseLock(f) }, nil
}

// releaseLock gives a lock back at once. To close the file is not enough while another goroutine starts a
// process: until its exec, the child has the file too.
func releaseLock(f *os.File) {
	_ = tryLock(f, unix.LOCK_UN)
	f.Close()
}

func (d Dir) lock(name string, wait bool) (*os.File, error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, err
	}
	if err := flock(f, wait); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", name, ErrLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}

// sign writes the number of this process into a lock file. Nothing depends on it: on a
// full disk the lock holds without it.
func sign(f *os.File) {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text)))
	}
}

// Holder is the process that holds the lock of a worker, or 0 if nobody does or the
// process is not known: a version before this one did not name itself.
func (d Dir) Holder(id string) int {
	f, err := os.OpenFile(filepath.Join(d.path, WorkerLock(id)), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	if !errors.Is(tryLock(f, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return 0
	}
	pid := 0
	if _, err := fmt.Fscanf(f, "%d\n", &pid); err != nil || pid <= 0 || errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0
	}
	return pid
}

// Share takes the named lock together with others who share it, as soon as nobody
// has it alone.
func (d Dir) Share(name string) (release func(), err error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f, unix.LOCK_SH); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() { releaseLock(f) }, nil
}

// Unshared takes the named lock alone, or fails with ErrLocked at once when somebody
// has it, shared or not.
func (d Dir) Unshared(name string) (release func(), err error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return func() { releaseLock(f) }, nil
}

// Await takes the named lock when its turn comes, or gives up with ctx. Those
// who wait are served in order.
func (d Dir) Await(ctx context.Context, name string) (release func(), err error) {
	f, err := d.await(ctx, name)
	if err != nil {
		return nil, err
	}
	return func() { releaseLock(f) }, nil
}

func (d Dir) await(ctx context.Context, name string) (*os.File, error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() { got <- flock(f, true) }()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return f, nil
	case <-ctx.Done():
		go func() { <-got; releaseLock(f) }() // a turn that comes later is passed on
		return nil, ctx.Err()
	}
}

func (d Dir) lockFile(name string) (*os.File, error) {
	path := filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
}

func flock(f *os.File, wait bool) error {
	if wait {
		return tryLock(f, unix.LOCK_EX)
	}
	for {
		err := tryLock(f, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		// Who only asks whether the lock is held (Held) holds it shared for
		// an instant, and is no reason to give up.
		if err := tryLock(f, unix.LOCK_SH|unix.LOCK_NB); err != nil {
			return err
		}
		if err := tryLock(f, unix.LOCK_UN); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func tryLock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Held reports whether some process holds the named lock. It changes nothing.
func (d Dir) Held(name string) bool {
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(tryLock(f, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// WorkerLock is the name of the lock that the process running a worker holds.
func WorkerLock(id string) string { return filepath.Join("workers", id, "lock") }

// GateLock is the name of the lock under which results land.
const GateLock = "gate.lock"
