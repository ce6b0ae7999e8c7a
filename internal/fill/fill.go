// Package fill puts into a new tree what its commit only refers to: the files of
// submodules, from the host's own module repositories, and the content of Git LFS files,
// from the host's own store.
//
// Survey decides, Into writes. Nothing is fetched, no program of Git LFS runs, and of a
// module repository only objects are read: its configuration, hooks and attributes are
// not. What is filled in is named by a commit of the operator's. A pointer that a worker
// wrote brings nothing but content that the same worker handed in, because a tree for
// acceptance commands runs a worker's code.
//
// Package worktree makes the tree; package audit holds it against what was filled in.
package fill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/git"
	"cordon/internal/lfs"
)

// Order says what a tree is of.
type Order struct {
	Bin     git.Binary
	Host    git.Host
	Repo    git.Repo // has the commit
	Commit  git.OID
	Special []git.File                                // links, submodules and attributes of the commit
	Files   func(context.Context) ([]git.File, error) // all of the commit, for one whose attributes may name filters
	Inside  func(path string) bool                    // what lies in the write roots
	Unseen  func(path string) bool                    // what the worker may not read; nil: nothing
	Scratch string                                    // a directory that is not there yet, for the time being
	// Handed is the store of what the worker itself handed in; the zero value has nothing.
	Handed lfs.Store
	// Trusted reports whether a pointer at a path is the operator's; nil: all are.
	Trusted func(path string, oid git.OID) bool
	Lenient bool // content that is not there stays a pointer, also inside the write roots
}

// Plan is what a tree gets.
type Plan struct {
	Modules  []Module
	Empty    []string // submodules that the host does not have
	Content  []Content
	Pointers []string // Git LFS files that stay pointers

	order Order
}

// Content is a file of Git LFS.
type Content struct {
	git.File
	Pointer lfs.Pointer
	From    lfs.Store
}

// FilterError says that a file inside the write roots is not its blob.
type FilterError struct{ Path, Filter string }

func (e *FilterError) Error() string {
	return fmt.Sprintf("%q needs the filter %s, which cordon does not run: a worker would see a placeholder and land it "+
		"(files outside write_roots do not matter)", e.Path, e.Filter)
}

// AbsentError says that content inside the write roots is not on this machine.
type AbsentError struct {
	Path  string
	Count int
}

func (e *AbsentError) Error() string {
	more := ""
	if e.Count > 1 {
		more = fmt.Sprintf(" (and that of %d more files in write_roots)", e.Count-1)
	}
	return fmt.Sprintf("the content of %q is not in the store of Git LFS%s: git lfs pull fetches it", e.Path, more)
}

// Survey decides what a tree gets, or why it cannot be used.
func Survey(ctx context.Context, o Order) (Plan, error) {
	p := Plan{order: o}
	files, err := o.filtered(ctx)
	if err == nil {
		err = p.large(ctx, files)
	}
	if err != nil {
		return p, err
	}
	return p, p.modules(ctx)
}

// filtered is a file for which attributes name a filter.
type filtered struct {
	git.File
	filter string
}

// filtered lists those of the commit. Only if its attributes may name a filter, all of its
// files are looked at.
func (o Order) filtered(ctx context.Context) ([]filtered, error) {
	if named, err := lfs.Named(ctx, o.Repo, o.Special); err != nil || !named {
		return nil, err
	}
	files, err := o.Files(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		if f.Mode == git.Regular || f.Mode == git.Executable {
			paths = append(paths, f.Path)
		}
	}
	base, err := o.Repo.Listing(ctx, o.Commit)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	filters, err := lfs.Filters(ctx, o.Repo, base, paths, o.Scratch)
	var list []filtered
	for _, f := range files {
		if filter := filters[f.Path]; filter != "" {
			list = append(list, filtered{f, filter})
		}
	}
	return list, err
}

// refuseFilters refuses files inside the write roots that the operator's git runs another
// filter for. A filter that their git does not know changes nothing.
func (o Order) refuseFilters(ctx context.Context, files []filtered) error {
	if len(files) == 0 || o.Lenient {
		return nil
	}
	known, err := o.Host.FilterNames(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.filter != lfs.Filter && known[f.filter] && o.Inside(f.Path) {
			return &FilterError{Path: f.Path, Filter: f.filter}
		}
	}
	return nil
}

// large decides about files of Git LFS.
func (p *Plan) large(ctx context.Context, all []filtered) error {
	if err := p.order.refuseFilters(ctx, all); err != nil {
		return err
	}
	var files []git.File
	var oids []git.OID
	for _, f := range all {
		if f.filter == lfs.Filter {
			files, oids = append(files, f.File), append(oids, f.OID)
		}
	}
	if len(files) == 0 {
		return nil
	}
	pointers, err := lfs.Pointers(ctx, p.order.Repo, oids)
	if err != nil {
		return err
	}
	host, err := lfs.HostStore(ctx, p.order.Host.Repo)
	if err != nil {
		return err
	}
	var absent []string
	for _, f := range files {
		pointer, ok := pointers[f.OID]
		switch {
		case !ok || p.order.Unseen != nil && p.order.Unseen(f.Path):
		case !p.order.Inside(f.Path):
			p.Pointers = append(p.Pointers, f.Path)
		case p.order.Handed.Dir != "" && p.order.Handed.Has(pointer):
			p.Content = append(p.Content, Content{f, pointer, p.order.Handed})
		case host.Has(pointer) && (p.order.Trusted == nil || p.order.Trusted(f.Path, f.OID)):
			p.Content = append(p.Content, Content{f, pointer, host})
		case p.order.Lenient:
			p.Pointers = append(p.Pointers, f.Path)
		default:
			absent = append(absent, f.Path)
		}
	}
	if len(absent) > 0 {
		return &AbsentError{Path: absent[0], Count: len(absent)}
	}
	return nil
}

// Into writes what was decided into a tree that no worker has seen yet. It returns the
// tracked files whose content is not that of their blobs.
func (p Plan) Into(ctx context.Context, top string) (differ []string, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, m := range p.Modules {
		if err := p.order.check(ctx, root, top, m); err != nil {
			return nil, fmt.Errorf("submodule %s: %w", m.Path, err)
		}
	}
	for _, c := range p.Content {
		if err := c.write(root); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		differ = append(differ, c.Path)
	}
	return differ, nil
}

// write puts content in the place of its pointer.
func (c Content) write(root *os.Root) error {
	if err := root.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if err := root.Remove(c.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	mode := os.FileMode(0o666)
	if c.Mode == git.Executable {
		mode = 0o777
	}
	f, err := root.OpenFile(c.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(c.From.Copy(c.Pointer, f), f.Close())
}

// Seeds are the files that lie in submodules, which no commit of the host names.
func (p Plan) Seeds() []git.File {
	var list []git.File
	for _, m := range p.Modules {
		list = append(list, m.Files...)
	}
	slices.SortFunc(list, func(a, b git.File) int { return strings.Compare(a.Path, b.Path) })
	return list
}
