package mount

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/paths"
)

// Layers that nobody keeps lie in memory. Where the kernel cannot have them there, they
// lie on disk for as long as their cell lives. A cordon that is killed leaves them, and
// the next one that needs such layers removes them.

const layersName = "cordon-layers-"

// LayersPlaces are where layers may lie on disk: every cell has a directory of its own
// there, so none sees them. Not $TMPDIR, which may lie in a tree that the command writes.
var LayersPlaces = []string{"/var/tmp", "/tmp"}

// LayersOnDisk makes layers in the first place where that can be done and that the
// command does not write. It returns no directory where the command writes them all.
func LayersOnDisk(places, write []string) (dir string, done func(), err error) {
	for _, place := range places {
		if slices.ContainsFunc(write, func(w string) bool { return paths.Within(place, w) }) {
			continue
		}
		sweepLayers(place, time.Now())
		var failed error
		if dir, done, failed = diskLayers(place); failed == nil {
			return dir, done, nil
		}
		err = errors.Join(err, failed)
	}
	return "", func() {}, err
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
			unlockDir(path)
		}
		return nil
	})
	_ = os.RemoveAll(top) // what it leaves is in the place for temporary files
}

// unlockDir opens a directory that the worker may have closed, and no directory that a
// link of its name leads to. Removing it says what is wrong.
func unlockDir(path string) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_ = unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}
