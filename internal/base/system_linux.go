package base

import (
	"os"

	"golang.org/x/sys/unix"
)

func supported() error { return nil }

// whiteout makes an overlay say that there is nothing at path in lower layers.
// Any user may make this one device, since Linux 5.8.
func whiteout(path string) error {
	if err := unix.Mknod(path, unix.S_IFCHR, 0); err != nil {
		return &os.PathError{Op: "whiteout", Path: path, Err: err}
	}
	return nil
}

// flush waits until everything that was written in a directory is on disk.
func flush(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return &os.PathError{Op: "syncfs", Path: dir, Err: err}
	}
	return nil
}

// onBtrfs reports whether a directory lies on btrfs.
func onBtrfs(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && int64(st.Type) == unix.BTRFS_SUPER_MAGIC
}

// isSubvolume reports whether a directory of btrfs is the top of a subvolume: those,
// and no others, have this number.
func isSubvolume(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Ino == 256 && onBtrfs(dir)
}

// nextInode makes a file without a name in a directory and returns its number.
func nextInode(dir string) (uint64, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return st.Ino, err
}
