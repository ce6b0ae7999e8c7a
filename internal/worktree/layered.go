package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/overlay"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// The layers of a tree that is copied on write, in the directory of its worker's
// layers: what it changed of the files, and its repository, of which only the index
// lies below.
const (
	FilesLayer = "tree"
	GitLayer   = "git"
)

// Upper is the part of a layer that holds what was written.
func Upper(layers, layer string) string { return filepath.Join(layers, layer, "upper") }

// LayerOrder says what a tree that is copied on write is made of.
type LayerOrder struct {
	Bin       git.Binary
	Host      git.Host
	Source    git.Repo // where the commit is found
	Alternate string   // object directory that has the commit's objects
	Commit    git.OID
	Branch    string
	Below     []string              // its files, topmost first
	Files     int                   // how many they are
	Roots     []string              // what the worker may write, as plain paths; "." is all of it
	Hidden    func(rel string) bool // what the worker may not read of it; nil: nothing
	Index     string                // the directory that the index lies in below
	Unseen    []string              // tracked files that the worker cannot see
	Fill      Fill                  // nil: nothing is to be filled in
	Renewed   map[string]time.Time  // files that must not look older, with the directories that they were in
	Partial   string                // where to build it
	Path      string                // where it is when it is complete
}

// MakeLayered makes the layers of a tree. Its cost does not depend on the size of
// the repository.
func MakeLayered(ctx context.Context, o LayerOrder) (Made, error) {
	made := Made{Files: o.Files}
	for _, layer := range []string{FilesLayer, GitLayer} {
		for _, part := range []string{"upper", "work"} {
			if err := os.MkdirAll(filepath.Join(o.Partial, layer, part), 0o700); err != nil {
				return made, err
			}
		}
	}
	if err := o.repository(ctx); err != nil {
		return made, err
	}
	below, err := overlay.Open(o.Below...)
	if err != nil {
		return made, err
	}
	defer below.Close()
	upper := Upper(o.Partial, FilesLayer)
	if made.Movable, err = o.copyRoots(below, upper); err != nil {
		return made, err
	}
	differ, err := o.Fill.into(ctx, upper)
	if err == nil {
		err = o.conceal(ctx, append(slices.Clip(o.Unseen), differ...))
	}
	if err != nil {
		return made, err
	}
	paths, err := included(ctx, o.Host, o.Source, o.Commit, filepath.Join(o.Partial, "worktreeinclude"))
	if err != nil {
		return made, err
	}
	paths = slices.DeleteFunc(paths, o.hidden)
	if len(paths) > 0 {
		if made.Included, err = copyAll(o.Host.Top, upper, paths, o.Host.Format, below); err != nil {
			return made, err
		}
	}
	if err := o.renew(below, upper); err != nil {
		return made, err
	}
	if _, err := os.Lstat(o.Path); !errors.Is(err, fs.ErrNotExist) {
		return made, &fs.PathError{Op: "make", Path: o.Path, Err: fs.ErrExist}
	}
	return made, os.Rename(o.Partial, o.Path)
}

// conceal gives the worker an index of its own, in which what it cannot see is not
// missing, and neither is changed what was filled in.
func (o LayerOrder) conceal(ctx context.Context, unseen []string) error {
	if len(unseen) == 0 {
		return nil
	}
	dir := Upper(o.Partial, GitLayer)
	if err := copyPlain(filepath.Join(o.Index, "index"), filepath.Join(dir, "index")); err != nil {
		return err
	}
	return git.OpenBare(o.Bin, dir, o.Host.Format).Conceal(ctx, git.Checkout{Top: o.Partial, GitDir: dir}, unseen)
}

func (o LayerOrder) hidden(rel string) bool { return o.Hidden != nil && o.Hidden(rel) }

// repository makes the worker's own: everything but the index, which it shares with
// the others of its base until it writes it.
func (o LayerOrder) repository(ctx context.Context) error {
	shallow, err := o.Host.ShallowFile()
	if err != nil {
		return err
	}
	top := filepath.Join(o.Partial, "init")
	repo, err := git.Init(ctx, o.Bin, top, git.InitOptions{
		Format: o.Host.Format, Alternate: o.Alternate, Shallow: shallow, Branch: o.Branch,
	})
	if err != nil {
		return err
	}
	if err := repo.Found(ctx, o.Commit, o.Branch); err != nil {
		return err
	}
	upper := Upper(o.Partial, GitLayer)
	if err := os.Remove(upper); err != nil {
		return err
	}
	return errors.Join(os.Rename(repo.Dir, upper), os.Remove(top))
}

// What of the leased directories is copied beforehand: the kernel does not rename a
// directory that lies below, or a part of which does. Whoever names a directory means
// it more than whoever leaves the whole tree open.
var (
	movableTree  = room{files: 1000, bytes: 8 << 20}
	movableNamed = room{files: 5000, bytes: 64 << 20}
)

// copyRoots copies the directories that a worker may write, if they are not too
// large, and returns those that were. "." stands for every directory at the top.
func (o LayerOrder) copyRoots(below *overlay.Dir, upper string) ([]string, error) {
	var movable []string
	dirs, room, err := expandRoots(below, o.Roots, o.Files)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		fits, err := room.takes(below, dir, o.hidden)
		if err != nil {
			return nil, err
		}
		if !fits {
			continue
		}
		if err := copyRoot(below, upper, dir); err != nil {
			return nil, err
		}
		movable = append(movable, dir)
	}
	return movable, nil
}

// expandRoots are the roots that are directories. A tree with more files than would
// be copied is not looked at for the sake of its whole.
func expandRoots(below *overlay.Dir, roots []string, files int) ([]string, *room, error) {
	if slices.Contains(roots, ".") {
		left := movableTree
		if int64(files) > left.files {
			return nil, &left, nil
		}
		dirs, err := directories(below)
		return dirs, &left, err
	}
	left := movableNamed
	var dirs []string
	for _, root := range roots {
		if root = strings.TrimSuffix(root, "/**"); !policy.HasWildcard(root) {
			dirs = append(dirs, policy.UnescapeGlob(root))
		}
	}
	slices.Sort(dirs)
	dirs = slices.DeleteFunc(slices.Compact(dirs), func(d string) bool { // it comes with the one above it
		return slices.ContainsFunc(dirs, func(above string) bool { return above != d && paths.Within(d, above) })
	})
	return dirs, &left, nil
}

// directories are the names of those at the top.
func directories(d *overlay.Dir) ([]string, error) {
	var list []string
	entries, err := d.Entries()
	for _, e := range entries {
		if e.Kind() == unix.S_IFDIR {
			list = append(list, e.Name)
		}
	}
	return list, err
}

// room is how much may still be copied.
type room struct{ files, bytes int64 }

var errNoRoom = errors.New("it must not be copied")

// takes reports whether a directory fits, and counts it. What is no directory does
// not have to, and one in which something is hidden cannot: it is hidden below.
func (r *room) takes(below *overlay.Dir, dir string, hidden func(string) bool) (bool, error) {
	if hidden(dir) {
		return false, nil
	}
	d, err := below.Sub(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.Close()
	left := *r
	err = walk(d, dir, func(at string, e overlay.Entry) error {
		left.files--
		left.bytes -= e.Stat.Size
		if left.files < 0 || left.bytes < 0 || hidden(at) {
			return errNoRoom
		}
		return nil
	})
	if errors.Is(err, errNoRoom) {
		return false, nil
	}
	if err == nil {
		*r = left
	}
	return err == nil, err
}

// walk calls act for everything below a directory, directories first.
func walk(d *overlay.Dir, prefix string, act func(string, overlay.Entry) error) error {
	entries, err := d.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(prefix, e.Name)
		if err := act(at, e); err != nil {
			return err
		}
		if e.Kind() != unix.S_IFDIR {
			continue
		}
		sub, err := e.Dir()
		if err != nil {
			return err
		}
		err = walk(sub, at, act)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// copyRoot copies a directory into a layer, in which nothing below it is seen then.
func copyRoot(below *overlay.Dir, upper, dir string) error {
	to, err := os.OpenRoot(upper)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := to.Lstat(dir); err == nil {
		return nil // with one above it
	}
	if err := to.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	top, err := to.Open(dir)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := overlay.MakeOpaque(int(top.Fd())); err != nil {
		return err
	}
	d, err := below.Sub(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return copyDir(d, top)
}

// CopyEntry makes a copy of one file, link or directory.
func CopyEntry(to *os.Root, at string, e overlay.Entry) error {
	switch e.Kind() {
	case unix.S_IFDIR:
		return to.Mkdir(at, e.Perm())
	case unix.S_IFLNK:
		target, err := e.Readlink()
		if err != nil {
			return err
		}
		return to.Symlink(target, at)
	}
	in, err := e.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.Perm())
	if err != nil {
		return err
	}
	return errors.Join(copyData(out, in, fi.Size()), out.Close(), to.Chtimes(at, fi.ModTime(), fi.ModTime()))
}
