package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// maxHeld is how many directories below each other are open at once. Removing a tree
// takes a descriptor for each level, and a worker may make more levels than there are
// descriptors.
const maxHeld = 64

// lifter makes a directory of a worker's one that can be removed: what forbids that is
// allowed again, and what lies too deep is moved up.
type lifter struct {
	top    *os.File
	lifted []string // names at the top that are still to be looked at
	count  int
}

func lift(root *os.Root, rel string) error {
	if fi, err := root.Lstat(rel); err != nil || !fi.IsDir() {
		return err
	}
	_ = root.Chmod(rel, 0o700) // opening says what is wrong
	top, err := root.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer top.Close()
	l := &lifter{top: top}
	if err := l.directory(top, 0); err != nil {
		return err
	}
	for len(l.lifted) > 0 {
		name := l.lifted[0]
		l.lifted = l.lifted[1:]
		if err := l.enter(top, name, 0); err != nil {
			return err
		}
	}
	return nil
}

// directory looks at everything below a directory.
func (l *lifter) directory(dir *os.File, depth int) error {
	unlock(dir)
	names, err := subdirectories(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if depth < maxHeld {
			err = l.enter(dir, name, depth+1)
		} else {
			err = l.up(dir, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// subdirectories lists the directories in one. It may hold millions of other names, and does
// not keep them.
func subdirectories(dir *os.File) (list []string, err error) {
	for {
		names, err := dir.Readdirnames(plainfile.Batch)
		for _, name := range names {
			var st unix.Stat_t
			if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				list = append(list, name)
			}
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// enter looks at a directory in another.
func (l *lifter) enter(in *os.File, name string, depth int) error {
	_ = plainfile.ChmodAt(int(in.Fd()), name, 0o700) // opening says what is wrong
	fd, err := unix.Openat(int(in.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: err}
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	return l.directory(dir, depth)
}

// up moves a directory to the top, under a name that nothing there has.
func (l *lifter) up(in *os.File, name string) error {
	for {
		l.count++
		to := fmt.Sprintf(".lifted-%d", l.count)
		err := unix.Renameat(int(in.Fd()), name, int(l.top.Fd()), to)
		switch {
		case err == nil:
			l.lifted = append(l.lifted, to)
			return nil
		case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTDIR):
			continue
		}
		return &fs.PathError{Op: "move", Path: name, Err: err}
	}
}
