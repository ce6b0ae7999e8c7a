package worktree

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// copyData copies a file and leaves its holes what they are: they cost whoever made
// them nothing, and would fill the disk of whoever copies them.
func copyData(to, from *os.File, size int64) error {
	for at := int64(0); at < size; {
		data, err := from.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // a hole up to the end
		}
		if err != nil {
			return err
		}
		hole, err := from.Seek(data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		hole = min(hole, size)
		if _, err := from.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := to.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(to, from, hole-data); err != nil && !errors.Is(err, io.EOF) { // it shrank
			return err
		}
		at = max(hole, at+1)
	}
	return to.Truncate(size)
}
