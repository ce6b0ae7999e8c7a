package worktree

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
)

// copying copies directories of a base into a layer, some files at a time. A thousand small
// files are most of what a worker of a small repository waits for: each is opened by its
// name in a directory that is open, read and written at once.
type copying struct {
	free chan struct{} // one for each file or directory that may be copied beside others
	mu   sync.Mutex
	errs error
}

// copyDir copies what is in a directory into another, in which nothing is yet.
func copyDir(from *overlay.Dir, to *os.File) error {
	c := &copying{free: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	c.dir(from, to)
	return c.errs
}

// dir waits until all of it is copied.
func (c *copying) dir(from *overlay.Dir, to *os.File) {
	entries, err := from.Entries()
	if err != nil {
		c.failed(err)
		return
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	var files []overlay.Entry
	for _, e := range entries {
		if e.Kind() != unix.S_IFDIR {
			files = append(files, e)
			continue
		}
		c.beside(&wait, func() { c.failed(c.below(e, to)) })
	}
	const some = 32
	for len(files) > 0 {
		n := min(some, len(files))
		part := files[:n]
		files = files[n:]
		c.beside(&wait, func() { c.failed(c.files(part, to)) })
	}
}

// beside does something while its caller goes on, or now if enough is done already.
func (c *copying) beside(wait *sync.WaitGroup, do func()) {
	select {
	case c.free <- struct{}{}:
		wait.Go(func() {
			defer func() { <-c.free }()
			do()
		})
	default:
		do()
	}
}

func (c *copying) failed(err error) {
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.errs = errors.Join(c.errs, err)
	}
}

// below copies a directory.
func (c *copying) below(e overlay.Entry, to *os.File) error {
	if err := c.sofar(); err != nil {
		return nil // it is known
	}
	if err := unix.Mkdirat(int(to.Fd()), e.Name, uint32(e.Perm())); err != nil {
		return &fs.PathError{Op: "mkdir", Path: e.Name, Err: err}
	}
	fd, err := unix.Openat(int(to.Fd()), e.Name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: e.Name, Err: err}
	}
	made := os.NewFile(uintptr(fd), e.Name)
	defer made.Close()
	from, err := e.Dir()
	if err != nil {
		return err
	}
	defer from.Close()
	c.dir(from, made)
	return nil
}

func (c *copying) sofar() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.errs
}

// files copies files and links.
func (c *copying) files(entries []overlay.Entry, to *os.File) error {
	buf := make([]byte, 64<<10)
	for _, e := range entries {
		if c.sofar() != nil {
			return nil
		}
		if err := copyOne(e, to, buf); err != nil {
			return err
		}
	}
	return nil
}

func copyOne(e overlay.Entry, to *os.File, buf []byte) error {
	if e.Kind() == unix.S_IFLNK {
		target, err := e.Readlink()
		if err == nil {
			err = unix.Symlinkat(target, int(to.Fd()), e.Name)
		}
		return err
	}
	in, err := e.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	fd, err := unix.Openat(int(to.Fd()), e.Name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(e.Perm()))
	if err != nil {
		return &fs.PathError{Op: "create", Path: e.Name, Err: err}
	}
	out := os.NewFile(uintptr(fd), e.Name)
	times := []unix.Timespec{e.Stat.Mtim, e.Stat.Mtim}
	err = errors.Join(copyPlainData(out, in, e.Stat, buf), out.Close())
	if err == nil {
		err = unix.UtimesNanoAt(int(to.Fd()), e.Name, times, unix.AT_SYMLINK_NOFOLLOW)
	}
	return err
}

// copyPlainData copies a file that fits into the buffer and has no holes by one read and one write.
func copyPlainData(out, in *os.File, st unix.Stat_t, buf []byte) error {
	if st.Size >= int64(len(buf)) || st.Blocks*512 < st.Size {
		return copyData(out, in, st.Size)
	}
	n, err := unix.Pread(int(in.Fd()), buf, 0)
	switch {
	case errors.Is(err, unix.EINTR), err == nil && int64(n) != st.Size:
		return copyData(out, in, st.Size)
	case err == nil && n > 0:
		_, err = out.Write(buf[:n])
	}
	return err
}
