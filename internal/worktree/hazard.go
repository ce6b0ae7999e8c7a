package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"cordon/internal/paths"
)

// Hazards are what lies in a directory that is opened for writing in place and
// would lead out of it, or is run by the operator's own git.
type Hazards struct {
	Linked       []string // files with another name somewhere else: writing one writes the other
	Repositories []string // .git entries below the top, and git directories of any name: git runs what their configuration says
	Sockets      []string // something of the host's may listen on them

	names [][]string // of each file that has several, as far as they lie in the directories

	// Partial lists directories that have a HEAD and are not git directories, with the
	// parts of a git directory that each of them has.
	Partial map[string][]string
}

// maxFixed is how many entries are protected one by one.
const maxFixed = 256

// FindHazards looks through directories, but not into the entries to skip. A tree
// that cordon made itself has none.
func FindHazards(dirs []string, skip ...string) (Hazards, error) {
	w := hazardWalk{linked: map[inode]*linked{}, skip: skip}
	w.found.Partial = map[string][]string{}
	for _, dir := range dirs {
		parts := partsOf(dir)
		if wholeGitDir(parts) {
			return Hazards{}, fmt.Errorf("%s is a git repository, which cannot be opened for writing: go into a checkout of it, or open another "+
				"directory with --write", dir)
		}
		if parts != nil {
			w.found.Partial[dir] = parts
		}
		if err := w.enter(dir); err != nil {
			return Hazards{}, err
		}
	}
	for _, l := range w.linked {
		w.found.names = append(w.found.names, l.names)
		if uint64(len(l.entries)) < l.links {
			w.found.Linked = append(w.found.Linked, l.names...)
		}
	}
	slices.Sort(w.found.Linked)
	w.found.Linked = slices.Compact(w.found.Linked) // one directory may lie in another
	return w.found, w.found.check()
}

// Twins lists the other names of files that are held, or lie in a directory that is:
// writing one would write the file that is held.
func (h Hazards) Twins(held []string) ([]string, error) {
	var list []string
	for _, names := range h.names {
		free := slices.DeleteFunc(slices.Clone(names), func(p string) bool { return paths.WithinAny(p, held) })
		if len(free) < len(names) {
			list = append(list, free...)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > maxFixed {
		return nil, fmt.Errorf("%d files (%s, …) are hard links to files that the command may not write: replace each with a copy, or open another "+
			"directory with --write", len(list), list[0])
	}
	return list, nil
}

// check refuses what cannot be protected one by one.
func (h Hazards) check() error {
	for _, of := range []struct {
		list []string
		what string
	}{
		{h.Linked, "files are hard links whose other names lie elsewhere, and writing them would write those"},
		{h.Repositories, "repositories lie in it"},
		{h.Sockets, "sockets lie in it"},
	} {
		if len(of.list) > maxFixed {
			return fmt.Errorf("%d %s (%s, …): copy the directory first (cp -a), or open another one with --write", len(of.list), of.what, of.list[0])
		}
	}
	return nil
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
	linked map[inode]*linked
	skip   []string
	kept   int // bytes of what is remembered
}

// maxKept is how many bytes of names are remembered of a tree: a command can make
// thousands of names that cost it next to nothing.
const maxKept = 64 << 20

// keep counts what is remembered of a path.
func (w *hazardWalk) keep(path string) error {
	if w.kept += len(path) + 128; w.kept > maxKept {
		return fmt.Errorf("there are too many hard links, repositories, sockets and files named HEAD to remember (the last was %s): remove them, or open "+
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
	case e.Name() == ".git":
		w.found.Repositories = append(w.found.Repositories, p)
		return false, w.keep(p)
	case e.IsDir():
		parts := partsOf(p)
		if wholeGitDir(parts) {
			w.found.Repositories = append(w.found.Repositories, p)
			return false, w.keep(p)
		}
		if parts != nil {
			w.found.Partial[p] = parts
			err = w.keep(p)
		}
		return true, err
	case e.Type()&fs.ModeSocket != 0:
		w.found.Sockets = append(w.found.Sockets, p)
		return false, w.keep(p)
	case e.Type().IsRegular():
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

// partsOf lists which parts of a git directory a directory with a HEAD has.
func partsOf(dir string) []string {
	fi, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || fi.IsDir() {
		return nil // nearly every directory
	}
	parts := []string{"HEAD"}
	for _, name := range gitParts[1:] {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			parts = append(parts, name)
		}
	}
	return parts
}

// gitParts are the names that make a git directory of a directory.
var gitParts = []string{"HEAD", "commondir", "objects", "refs"}

// wholeGitDir reports whether git takes a directory with these names for a repository.
func wholeGitDir(names []string) bool {
	has := func(name string) bool { return slices.Contains(names, name) }
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}
