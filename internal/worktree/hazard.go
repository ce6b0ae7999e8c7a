package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/gitfile"
)

// Hazards are what lies in a directory that is opened for writing in place and would lead out of it,
// or is obeyed by the operator's own git.
type Hazards struct {
	Linked       []string // files with another name somewhere else: writing one writes the other
	Repositories []string // .git entries below the top, and git directories of any name: git runs what their configuration says
	Sockets      []string // something of the host's may listen on them
}

// FindHazards looks through directories, but not into the entries to skip. A tree
// that cordon made itself has none.
func FindHazards(dirs []string, skip ...string) (Hazards, error) {
	w := hazardWalk{linked: map[inode]*linked{}, skip: skip}
	err := w.through(dirs)
	for _, l := range w.linked {
		if uint64(len(l.entries)) < l.links {
			w.found.Linked = append(w.found.Linked, l.names...)
		}
	}
	slices.Sort(w.found.Linked)
	w.found.Linked = slices.Compact(w.found.Linked) // one directory may lie in another
	return w.found, err
}

// FindRepositories looks for nothing but repositories.
func FindRepositories(dirs []string, skip ...string) ([]string, error) {
	w := hazardWalk{skip: skip}
	err := w.through(dirs)
	return w.found.Repositories, err
}

// unreadable refuses a directory of ours that we cannot look into: the command has
// our user and could open it. One of somebody else's stays closed for it too.
func unreadable(path string, err error) error {
	var st unix.Stat_t
	if errors.Is(err, fs.ErrPermission) && unix.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid() {
		return fmt.Errorf("%s cannot be looked into, and a command could open it: chmod u+rx it, or open another directory with --write", path)
	}
	return nil
}

type inode struct{ dev, ino uint64 }

// linked is a file with several names.
type linked struct {
	names   []string
	entries map[entry]bool // the names, each once: a mount shows a directory again
	links   uint64
}

type entry struct {
	dir  inode
	name string
}

type hazardWalk struct {
	found  Hazards
	linked map[inode]*linked // nil: nobody asks
	skip   []string
	kept   int // bytes of what is remembered
}

// maxKept is how many bytes of names are remembered of a tree: a command can make
// thousands of names that cost it next to nothing.
const maxKept = 64 << 20

// through looks through directories.
func (w *hazardWalk) through(dirs []string) error {
	for _, dir := range dirs {
		if isGitDir(dir) {
			return fmt.Errorf("%s is a git repository, which cannot be opened for writing: go into a checkout of it, or open another "+
				"directory with --write", dir)
		}
		if err := w.enter(dir); err != nil {
			return err
		}
	}
	return nil
}

// keep counts what is remembered of a path.
func (w *hazardWalk) keep(path string) error {
	if w.kept += len(path) + 128; w.kept > maxKept {
		return fmt.Errorf("there are too many hard links, repositories and sockets to remember (the last was %s): remove them, or open "+
			"another directory with --write", path)
	}
	return nil
}

// enter looks at a directory, some names at a time.
func (w *hazardWalk) enter(dir string) error {
	f, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return unreadable(dir, err)
	}
	defer f.Close()
	var below []string
	for {
		entries, err := f.ReadDir(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(dir, err)
		}
		for _, e := range entries {
			enter, err := w.see(f, filepath.Join(dir, e.Name()), e)
			if err != nil {
				return err
			}
			if enter {
				below = append(below, e.Name())
			}
		}
	}
	f.Close() // a deep tree needs no descriptor for each level
	for _, name := range below {
		if err := w.enter(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// see looks at an entry of a directory. It reports whether to look into it.
func (w *hazardWalk) see(dir *os.File, p string, e fs.DirEntry) (enter bool, err error) {
	switch {
	case slices.Contains(w.skip, p):
		return false, nil
	case strings.EqualFold(e.Name(), ".git"):
		w.found.Repositories = append(w.found.Repositories, p)
		return false, w.keep(p)
	case e.IsDir():
		if isGitDir(p) {
			w.found.Repositories = append(w.found.Repositories, p)
			return false, w.keep(p)
		}
		return true, nil
	case e.Type()&fs.ModeSocket != 0:
		w.found.Sockets = append(w.found.Sockets, p)
		return false, w.keep(p)
	case e.Type().IsRegular() && w.linked != nil:
		return false, w.count(dir, p)
	}
	return false, nil
}

// count notes a name of a file that has several.
func (w *hazardWalk) count(f *os.File, p string) error {
	var st, dir unix.Stat_t
	name := filepath.Base(p)
	if unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Nlink < 2 || unix.Fstat(int(f.Fd()), &dir) != nil {
		return nil
	}
	k := inode{uint64(st.Dev), st.Ino}
	l := w.linked[k]
	if l == nil {
		l = &linked{entries: map[entry]bool{}}
		w.linked[k] = l
	}
	l.names, l.links = append(l.names, p), uint64(st.Nlink)
	l.entries[entry{inode{uint64(dir.Dev), dir.Ino}, name}] = true
	return w.keep(p)
}

// isGitDir reports whether git takes a directory for a repository.
func isGitDir(dir string) bool {
	if fi, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || fi.IsDir() {
		return false // nearly every directory
	}
	var parts []string
	for _, name := range gitfile.Parts {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			parts = append(parts, name)
		}
	}
	return gitfile.IsRepository(parts)
}
