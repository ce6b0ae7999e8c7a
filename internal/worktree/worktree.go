// Package worktree makes the tree that a worker works in. Package enclosure says
// which cell goes around it.
//
// A worker's tree is a repository of its own: its refs, configuration, index,
// hooks and new objects are private, and what the base commit needs is read from
// the host's objects through an alternate. It has no remote. The package refuses
// to make linked worktrees of the host, because those share refs, configuration
// and hooks with it, and never runs git in a tree once a worker has had it.
//
// Files are written byte for byte as the base commit holds them: end-of-line,
// ident and encoding attributes are not applied, in either direction, so that a
// file that equals its blob is an unchanged file. What a commit only refers to
// (submodules, Git LFS) is put into a new tree by package fill.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
)

// Order says what to make.
type Order struct {
	Bin       git.Binary
	Host      git.Host
	Source    git.Repo // where the commit is found
	Alternate string   // object directory that has the commit's objects
	Commit    git.OID
	Branch    string
	From      *Prepared             // what it is a copy of, when git does not have to write it
	Unseen    []string              // tracked files that the worker cannot see
	Hidden    func(rel string) bool // what of the operator's ignored files is not copied; nil: nothing
	Fill      Fill                  // nil: nothing is to be filled in
	Partial   string                // where to build it; nothing is there
	Path      string                // where it is when it is complete
	Progress  git.Progress
}

// Fill puts into a new tree what its commit only refers to. It returns the tracked files
// whose content is not that of their blobs: git is told to leave those alone.
type Fill func(ctx context.Context, top string) (differ []string, err error)

func (f Fill) into(ctx context.Context, top string) ([]string, error) {
	if f == nil {
		return nil, nil
	}
	return f(ctx, top)
}

// Made is a finished tree.
type Made struct {
	Files      int        `json:"files"`
	Base       string     `json:"base,omitempty"`       // what a layered tree lies on
	Snapshot   bool       `json:"snapshot,omitempty"`   // it began as a copy of a prepared checkout
	Movable    []string   `json:"movable,omitempty"`    // directories that were copied so that they can be renamed
	Included   []git.File `json:"included,omitempty"`   // copied because of .worktreeinclude
	Submodules []string   `json:"submodules,omitempty"` // of the commit, filled or not
	Filled     string     `json:"filled,omitempty"`     // the record that lists the files in submodules
	Boot       string     `json:"boot,omitempty"`       // the start of the machine that it was made in
}

// Make builds the tree beside its place and moves it there when it is whole.
func Make(ctx context.Context, o Order) (Made, error) {
	build := o.build
	if o.From != nil {
		build = o.snapshot
	}
	made, err := build(ctx)
	if err != nil {
		return Made{}, err
	}
	differ, err := o.Fill.into(ctx, o.Partial)
	if unseen := append(slices.Clip(o.Unseen), differ...); err == nil && len(unseen) > 0 {
		dir := filepath.Join(o.Partial, ".git")
		err = git.OpenBare(o.Bin, dir, o.Host.Format).Conceal(ctx, git.Checkout{Top: o.Partial, GitDir: dir}, unseen)
	}
	if err != nil {
		return Made{}, err
	}
	if _, err := os.Lstat(o.Path); !errors.Is(err, os.ErrNotExist) {
		return Made{}, fmt.Errorf("%s already exists", o.Path)
	}
	return made, os.Rename(o.Partial, o.Path)
}

// build has git write every file.
func (o Order) build(ctx context.Context) (Made, error) {
	files, err := o.Source.Tree(ctx, o.Commit)
	if err != nil {
		return Made{}, err
	}
	if err := os.Mkdir(o.Partial, 0o700); err != nil {
		return Made{}, err
	}
	repo, err := o.repository(ctx)
	if err != nil {
		return Made{}, err
	}
	if err := repo.Populate(ctx, o.Partial, o.Commit, o.Branch, o.Progress); err != nil {
		return Made{}, err
	}
	made := Made{}
	for _, f := range files {
		if f.Mode == git.Gitlink {
			made.Submodules = append(made.Submodules, f.Path)
			continue
		}
		made.Files++
	}
	made.Included, err = o.include(ctx)
	return made, err
}

// repository makes the worker's own, in the unfinished tree.
func (o Order) repository(ctx context.Context) (git.Repo, error) {
	shallow, err := o.Host.ShallowFile()
	if err != nil {
		return git.Repo{}, err
	}
	return git.Init(ctx, o.Bin, o.Partial, git.InitOptions{
		Format: o.Host.Format, Alternate: o.Alternate, Shallow: shallow, Branch: o.Branch,
	})
}

// IsAttributes reports whether git reads attributes from a file, here or where
// names are compared in another way.
func IsAttributes(f git.File) bool {
	return policy.Folded(filepath.Base(f.Path)) == ".GITATTRIBUTES" && (f.Mode == git.Regular || f.Mode == git.Executable)
}

// include copies the files that the base commit's .worktreeinclude names and
// that the operator's checkout ignores.
func (o Order) include(ctx context.Context) ([]git.File, error) {
	// In the unfinished tree, so that an interrupted run leaves it nowhere else.
	paths, err := included(ctx, o.Host, o.Source, o.Commit, filepath.Join(o.Partial, ".git", "worktreeinclude"))
	if o.Hidden != nil {
		paths = slices.DeleteFunc(paths, o.Hidden)
	}
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	return copyAll(o.Host.Top, o.Partial, paths, o.Host.Format, nil)
}

// included lists them. The patterns are in a file while git reads them.
func included(ctx context.Context, host git.Host, source git.Repo, commit git.OID, file string) ([]string, error) {
	if host.Top == "" {
		return nil, nil
	}
	patterns, ok, err := source.FileAt(ctx, commit, ".worktreeinclude")
	if err != nil || !ok {
		return nil, err
	}
	if err := os.WriteFile(file, patterns, 0o600); err != nil {
		return nil, err
	}
	paths, err := host.IgnoredWith(ctx, git.Checkout{Top: host.Top, GitDir: host.Private}, file)
	return paths, errors.Join(err, os.Remove(file))
}

// copyAll copies regular files from one tree to another, never through a link.
// Left out are names that are not valid UTF-8, because they could not be
// recorded, and those that the base commit has something else for: in the tree, or
// in what it lies on.
func copyAll(from, to string, paths []string, format git.Format, below *overlay.Dir) ([]git.File, error) {
	src, err := os.OpenRoot(from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer dst.Close()
	var copied []git.File
	for _, p := range paths {
		fi, err := src.Lstat(p)
		if err != nil {
			return nil, err
		}
		if !fi.Mode().IsRegular() || !utf8.ValidString(p) || taken(dst, p) || takenBelow(below, p) {
			continue
		}
		entry, err := copyFile(src, dst, p, fi, format)
		if err != nil {
			return nil, fmt.Errorf(".worktreeinclude: %w", err)
		}
		copied = append(copied, git.File{Path: p, Entry: entry})
	}
	return copied, nil
}

// taken reports whether a tree has something at a path, or something else than a
// directory on the way to it.
func taken(tree *os.Root, path string) bool {
	for i, c := range path + "/" {
		if c != '/' {
			continue
		}
		fi, err := tree.Lstat(path[:i])
		if err != nil {
			return !errors.Is(err, os.ErrNotExist)
		}
		if i == len(path) || !fi.IsDir() {
			return true
		}
	}
	return false
}

// takenBelow is taken for what a layer lies on.
func takenBelow(tree *overlay.Dir, path string) bool {
	if tree == nil {
		return false
	}
	if dir := filepath.Dir(path); dir != "." {
		sub, err := tree.Sub(dir)
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		}
		defer sub.Close()
		tree = sub
	}
	_, err := tree.Entry(filepath.Base(path))
	return !errors.Is(err, fs.ErrNotExist)
}

func copyFile(src, dst *os.Root, path string, fi os.FileInfo, format git.Format) (git.Entry, error) {
	in, err := plainfile.Check(src.OpenFile(path, os.O_RDONLY|plainfile.Flags, 0))
	if err != nil {
		return git.Entry{}, err
	}
	defer in.Close()
	if err := dst.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return git.Entry{}, err
	}
	out, err := dst.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fi.Mode().Perm())
	if err != nil {
		return git.Entry{}, err
	}
	h := format.BlobHash(fi.Size())
	_, err = io.CopyN(io.MultiWriter(out, h), in, fi.Size())
	entry := git.Entry{Mode: git.Regular, OID: git.OID(fmt.Sprintf("%x", h.Sum(nil)))}
	if fi.Mode()&0o100 != 0 {
		entry.Mode = git.Executable
	}
	return entry, errors.Join(err, out.Close())
}

// FoldsCase reports whether the file system of a directory takes two spellings
// of a name for one.
func FoldsCase(dir string) (bool, error) {
	probe, err := os.CreateTemp(dir, "Fold-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	other := filepath.Join(dir, strings.ToLower(filepath.Base(probe.Name())))
	_, err = os.Lstat(other)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Bytes is what a tree occupies on disk.
func Bytes(path string) (int64, error) {
	var total int64
	err := filepath.WalkDir(path, func(p string, e os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrNotExist) {
			return nil // what the kernel or the worker has locked, and what is gone meanwhile
		}
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
		total += int64(st.Blocks) * 512
		return nil
	})
	return total, err
}
