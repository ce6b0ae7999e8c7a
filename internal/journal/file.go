package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"cordon/internal/plainfile"
)

// Names of the journal's files in its directory.
const (
	File     = "journal.jsonl"
	HeadFile = "journal.head"
	LockFile = "journal.lock"
)

// lock waits for the journal's lock, exclusive with syscall.LOCK_EX, shared
// with syscall.LOCK_SH, and returns its release. Each call opens the file
// anew, so that goroutines exclude each other exactly as processes do.
func lock(dir string, how int) (release func(), err error) {
	flag := os.O_RDONLY
	if how == syscall.LOCK_EX {
		flag = os.O_RDWR | os.O_CREATE
	}
	path := filepath.Join(dir, LockFile)
	for {
		f, err := plainfile.Open(path, flag)
		if err != nil {
			return nil, err
		}
		if err := flock(f, how); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// Somebody may have removed the file while we waited: a lock on
		// a file that has no name excludes nobody.
		if isNamed(f, path) {
			return func() { f.Close() }, nil
		}
		f.Close()
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}

func isNamed(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(held, named)
}

// replace writes a new file and renames it to path: what is there is either
// the old content or the new, whole and synced. It returns the new file.
func replace(path string, write func(io.Writer) error) (*os.File, error) {
	temp := path + ".new"
	f, err := plainfile.Open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		f.Close()
		os.Remove(temp)
		return nil, err
	}
	return f, nil
}

// syncDir makes the names in dir durable, where the file system knows how.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
