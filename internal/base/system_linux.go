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
