package cell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Layers that nobody keeps lie in memory. Where the kernel cannot have them there, they
// lie on disk for as long as their cell lives. A cordon that is killed leaves them, and
// the next one that needs such layers removes them.

const layersName = "cordon-layers-"

// layersPlace is a directory for layers on disk that no cell sees: every cell has one
// of its own there. Not $TMPDIR, which may lie in a tree that the command writes.
func layersPlace(write []string) string {
	for _, dir := range []string{"/var/tmp", "/tmp"} {
		if !slices.ContainsFunc(write, func(w string) bool { return within(dir, w) }) {
			return dir
		}
	}
	return ""
}

// diskLayers makes a directory for the layers of one cell. A lock beside them says that
// their cordon lives.
func diskLayers(place string) (dir string, done func(), err error) {
	top, err := os.MkdirTemp(place, layersName)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(top, "lock"), os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	dir = filepath.Join(top, "layers")
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	done = func() { eraseLayers(top); lock.Close() }
	if err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// sweepLayers removes what cordons of this user left that were killed. What is younger
// than a minute may not be locked yet.
func sweepLayers(place string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(place, layersName+"*"))
	if err != nil {
		return
	}
	for _, top := range found {
		fi, err := os.Lstat(top)
		if err != nil || !fi.IsDir() || now.Sub(fi.ModTime()) < time.Minute {
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() && abandoned(top) {
			eraseLayers(top)
		}
	}
}

// abandoned reports whether nobody holds the lock of layers any more.
func abandoned(top string) bool {
	lock, err := os.OpenFile(filepath.Join(top, "lock"), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// eraseLayers removes layers whose cell has ended.
func eraseLayers(top string) {
	_ = filepath.WalkDir(top, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // the worker may have closed it; removing says what is wrong
		}
		return nil
	})
	_ = os.RemoveAll(top) // what it leaves is in the place for temporary files
}
