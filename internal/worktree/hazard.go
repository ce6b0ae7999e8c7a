package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Hazards are what lies in a directory that is opened for writing in place and
// would lead out of it, or is run by the operator's own git.
type Hazards struct {
	Linked       []string // files with another name somewhere else: writing one writes the other
	Repositories []string // .git entries below the top, and git directories of any name: git runs what their configuration says
	Sockets      []string // something of the host's may listen on them

	// Partial lists directories that have a HEAD and are not git directories, with the
	// parts of a git directory that each of them has.
	Partial map[string][]string
}

// maxFixed is how many entries are protected one by one.
const maxFixed = 256

// FindHazards looks through directories, but not into the entries to skip. A tree
// that cordon made itself has none.
func FindHazards(dirs []string, skip ...string) (Hazards, error) {
	w := hazardWalk{names: map[inode][]string{}, links: map[inode]uint64{}, skip: skip}
	w.found.Partial = map[string][]string{}
	for _, dir := range dirs {
		if parts := partsOf(dir); wholeGitDir(parts) {
			return Hazards{}, fmt.Errorf("%s is a git repository, which cannot be opened for writing: go into a checkout of it, or open another "+
				"directory with --write", dir)
		}
		if err := filepath.WalkDir(dir, w.see); err != nil {
			return Hazards{}, err
		}
	}
	for k, found := range w.names {
		if uint64(len(found)) < w.links[k] {
			w.found.Linked = append(w.found.Linked, found...)
		}
	}
	slices.Sort(w.found.Linked)
	return w.found, w.found.check()
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

type hazardWalk struct {
	found Hazards
	names map[inode][]string
	links map[inode]uint64
	skip  []string
}

func (w *hazardWalk) see(p string, e fs.DirEntry, err error) error {
	if err != nil {
		return unreadable(p, err)
	}
	if slices.Contains(w.skip, p) || e.Name() == ".git" {
		if !slices.Contains(w.skip, p) {
			w.found.Repositories = append(w.found.Repositories, p)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if e.IsDir() {
		parts := partsOf(p)
		if wholeGitDir(parts) {
			w.found.Repositories = append(w.found.Repositories, p)
			return fs.SkipDir
		}
		if parts != nil {
			w.found.Partial[p] = parts
		}
	}
	switch {
	case e.Type()&fs.ModeSocket != 0:
		w.found.Sockets = append(w.found.Sockets, p)
	case e.Type().IsRegular():
		var st unix.Stat_t
		if unix.Lstat(p, &st) == nil && st.Nlink > 1 {
			k := inode{uint64(st.Dev), st.Ino}
			w.names[k], w.links[k] = append(w.names[k], p), uint64(st.Nlink)
		}
	}
	return nil
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
