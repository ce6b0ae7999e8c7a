package follow

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"cordon/internal/git"
	"cordon/internal/lfs"
)

// largeFiles are the paths of a move that Git LFS keeps. The checkout has their content, if
// the operator uses Git LFS; the commits have pointers.
func (s *Step) largeFiles(ctx context.Context, deltas []git.Delta) (map[string]bool, error) {
	names, err := s.repo.FilterNames(ctx, s.Checkout)
	if err != nil || !names[lfs.Filter] {
		return nil, err
	}
	large := map[string]bool{}
	for _, commit := range []git.OID{s.move.From, s.move.To} {
		var paths []string
		for _, d := range deltas {
			paths = append(paths, d.Path)
		}
		tree, err := s.repo.Listing(ctx, commit)
		if err != nil {
			return nil, err
		}
		filters, err := lfs.Filters(ctx, s.repo, tree, paths, filepath.Join(s.stage, "attributes"))
		tree.Close()
		if err != nil {
			return nil, err
		}
		for p, filter := range filters {
			large[p] = large[p] || filter == lfs.Filter
		}
	}
	return large, nil
}

// enlarge puts content in the place of the pointers that git wrote aside. Content that the
// host's store does not have stays a pointer, as Git LFS itself leaves it.
func (s *Step) enlarge(ctx context.Context, deltas []git.Delta, large map[string]bool) error {
	if len(large) == 0 {
		return nil
	}
	store, err := lfs.HostStore(ctx, s.repo)
	if err != nil {
		return err
	}
	tree, err := os.OpenRoot(filepath.Join(s.stage, "tree"))
	if err != nil {
		return err
	}
	defer tree.Close()
	var filled []git.File
	for _, d := range deltas {
		p := d.Path
		if !large[p] {
			continue
		}
		fi, err := tree.Lstat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Size() > lfs.MaxPointer {
			continue // it goes, or git did not write it
		}
		text, err := tree.ReadFile(p)
		if err != nil {
			return err
		}
		pointer, ok := lfs.Parse(text)
		if !ok || !store.Has(pointer) {
			continue
		}
		if err := replaceContent(tree, p, fi.Mode().Perm(), store, pointer); err != nil {
			return err
		}
		filled = append(filled, git.File{Path: p, Entry: d.New})
	}
	then := s.Checkout
	then.Index = s.index()
	return s.repo.Forget(ctx, then, filled)
}

func replaceContent(tree *os.Root, p string, mode os.FileMode, store lfs.Store, pointer lfs.Pointer) error {
	f, err := tree.OpenFile(p, os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	return errors.Join(store.Copy(pointer, f), f.Close())
}

// unchanged reports whether a file of the checkout has the content of the old commit's
// pointer. Git cannot tell without running Git LFS.
func (j judgement) unchanged(d git.Delta, id identity) bool {
	return j.large[d.Path] && holdsLarge(j.root, d.Path, id, d.Old.OID, j.format)
}

// holdsLarge reports whether a file has the content of a pointer.
func holdsLarge(root *dir, p string, id identity, pointer git.OID, format git.Format) bool {
	if !id.regular() {
		return false
	}
	f, err := root.contentOf(p, id)
	if err != nil {
		return false
	}
	defer f.Close()
	is, _, err := lfs.Clean(f)
	return err == nil && format.Blob(is.Text()) == pointer
}
