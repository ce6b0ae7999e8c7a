package worktree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
)

// renew gives files the times that they must have at least: copies in the layer of the
// worker. Of a file that is not there any more the directory gets it.
func (o LayerOrder) renew(below *overlay.Dir, upper string) error {
	if len(o.Renewed) == 0 {
		return nil
	}
	to, err := os.OpenRoot(upper)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, rel := range slices.Sorted(maps.Keys(o.Renewed)) {
		if o.hidden(rel) {
			continue
		}
		if err := renewFile(to, below, rel, o.Renewed[rel]); err != nil {
			return err
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(o.Renewed)) { // writing changed the directories
		if err := younger(to, path.Dir(rel), o.Renewed[rel]); err != nil {
			return err
		}
	}
	return nil
}

// renewFile makes one file younger, if it is one.
func renewFile(to *os.Root, below *overlay.Dir, rel string, at time.Time) error {
	if _, err := to.Lstat(rel); err == nil {
		return younger(to, rel, at)
	}
	dir := below
	if parent := path.Dir(rel); parent != "." {
		if hid, err := makeParents(to, below, parent); err != nil || hid {
			return err
		}
		sub, err := below.Sub(parent)
		if err != nil {
			return err
		}
		defer sub.Close()
		dir = sub
	}
	e, err := dir.Entry(path.Base(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || e.Kind() != unix.S_IFREG {
		return err
	}
	if at.Before(time.Unix(e.Stat.Mtim.Unix())) {
		return nil
	}
	return errors.Join(CopyEntry(to, rel, e), younger(to, rel, at))
}

// makeParents makes a directory of the layers below in the one above, with those around
// it. It reports whether there is none, or one that shows nothing of those below.
func makeParents(to *os.Root, below *overlay.Dir, dir string) (none bool, err error) {
	if parent := path.Dir(dir); parent != "." {
		if none, err := makeParents(to, below, parent); none || err != nil {
			return none, err
		}
	}
	if f, err := to.Open(dir); err == nil {
		defer f.Close()
		return overlay.Opaque(int(f.Fd()))
	}
	d, err := below.Sub(path.Dir(dir))
	if path.Dir(dir) == "." {
		d, err = below, nil
	}
	if err != nil {
		return false, err
	}
	if d != below {
		defer d.Close()
	}
	e, err := d.Entry(path.Base(dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && e.Kind() != unix.S_IFDIR {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, CopyEntry(to, dir, e)
}

// younger sets the time of what is in the layer, unless it has a later one.
func younger(to *os.Root, rel string, at time.Time) error {
	fi, err := to.Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (fi.Mode()&fs.ModeSymlink != 0 || !fi.ModTime().Before(at)) {
		return nil
	}
	return errors.Join(err, to.Chtimes(rel, at, at))
}
