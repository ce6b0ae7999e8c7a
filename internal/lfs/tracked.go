package lfs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// Filter is the name of the filter of Git LFS in attributes.
const Filter = "lfs"

// maxAttributes is how long a file of attributes may be.
const maxAttributes = 16 << 20

// Filters asks git which filter the attributes of a commit name for paths; a path without
// one is not among them. Git reads the attributes in a directory of cordon's own, which
// must not exist yet and is gone afterwards.
func Filters(ctx context.Context, repo git.Repo, commit *git.Listing, paths []string, dir string) (map[string]string, error) {
	names := commit.Above(git.Attributes, paths)
	texts, any := map[string][]byte{}, false
	for _, f := range names {
		if f.Mode == git.Symlink || f.Mode == git.Gitlink {
			continue // git does not read those either
		}
		text, err := commit.Blob(f.OID, maxAttributes)
		if err != nil {
			return nil, err
		}
		texts[f.Path] = text
		any = any || mayFilter(text)
	}
	if err := commit.Err(); err != nil || !any && !ownAttributes(repo) {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	err := writeAll(dir, texts)
	var filters map[string]string
	if err == nil {
		filters, err = repo.CheckFilter(ctx, dir, paths)
	}
	return filters, errors.Join(err, os.RemoveAll(dir)) // made just now
}

// Named reports whether a commit with these special files, or the repository itself, has
// attributes that may name a filter.
func Named(ctx context.Context, repo git.Repo, special []git.File) (bool, error) {
	if ownAttributes(repo) {
		return true, nil
	}
	for _, f := range special {
		if path.Base(f.Path) != git.Attributes || f.Mode == git.Symlink || f.Mode == git.Gitlink {
			continue // git does not read links and submodules
		}
		if text, err := repo.Blob(ctx, f.OID); err != nil || mayFilter(text) {
			return true, err
		}
	}
	return false, nil
}

// ownAttributes reports whether attributes of the repository's own may name a filter: the
// operator's git obeys those too.
func ownAttributes(repo git.Repo) bool {
	text, err := plainfile.ReadLinked(filepath.Join(repo.Dir, "info", "attributes"), plainfile.Text)
	return err == nil && mayFilter(text)
}

// mayFilter reports whether attributes may name a filter, also by a macro of their own.
func mayFilter(text []byte) bool { return bytes.Contains(text, []byte("filter")) }

func writeAll(dir string, texts map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range texts {
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Pointers reads those of some blobs that are pointers.
func Pointers(ctx context.Context, repo git.Repo, oids []git.OID) (map[git.OID]Pointer, error) {
	texts, err := repo.SmallBlobs(ctx, oids, MaxPointer)
	found := map[git.OID]Pointer{}
	for oid, text := range texts {
		if p, ok := Parse(text); ok {
			found[oid] = p
		}
	}
	return found, err
}
