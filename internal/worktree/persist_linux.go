package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// fewChanged is how many files are written to the disk one by one. For more, everything
// that is in memory for that disk is.
const fewChanged = 32

// tick is how far the times of files may lie behind the clock.
const tick = 20 * time.Millisecond

var errMany = errors.New("many")

// Persist writes what a worker left in the layers of its tree since a moment to the disk. The
// kernel does not do that when the overlay ends, see package mount. Nothing runs in the tree
// any more.
func Persist(layers string, since time.Time) error {
	since = since.Add(-tick)
	n := 0
	for _, layer := range []string{FilesLayer, GitLayer} {
		err := filepath.WalkDir(Upper(layers, layer), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() && !d.Type().IsRegular() {
				return err // of another kind: its directory has all of it
			}
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil || time.Unix(st.Ctim.Unix()).Before(since) {
				return err
			}
			if n++; n > fewChanged {
				return errMany
			}
			return persistOne(path)
		})
		if err != nil { // also what the worker has locked
			return persistAll(layers)
		}
	}
	return nil
}

func persistOne(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|plainfile.Flags, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func persistAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
