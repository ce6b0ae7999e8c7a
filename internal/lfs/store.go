package lfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// Store is a directory of content by its hash, as Git LFS keeps it: ab/cd/abcd….
type Store struct{ Dir string }

// HostStore is the store of a repository: lfs/objects in the git directory, or where the
// repository's own configuration has it.
func HostStore(ctx context.Context, r git.Repo) (Store, error) {
	dir, set, err := r.ConfigValue(ctx, "lfs.storage")
	if err != nil {
		return Store{}, err
	}
	if !set || dir == "" {
		dir = "lfs"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, dir)
	}
	return Store{Dir: filepath.Join(dir, "objects")}, nil
}

// ErrAbsent says that a store does not have content, or has something else in its place.
var ErrAbsent = errors.New("its content is not in the store of Git LFS")

func (p Pointer) rel() string { return filepath.Join(p.OID[:2], p.OID[2:4], p.OID) }

// Has reports whether the store has a file of the right size for a pointer.
func (s Store) Has(p Pointer) bool {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	fi, err := root.Lstat(p.rel())
	return err == nil && fi.Mode().IsRegular() && fi.Size() == p.Size
}

// Copy writes the content of a pointer, and fails unless it is what the pointer says. What
// was written until then is no content.
func (s Store) Copy(p Pointer, to io.Writer) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAbsent, err)
	}
	defer root.Close()
	f, err := plainfile.Check(root.OpenFile(p.rel(), os.O_RDONLY|plainfile.Flags, 0))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAbsent, err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(f, p.Size+1))
	if err != nil {
		return err
	}
	if n != p.Size || hex.EncodeToString(h.Sum(nil)) != p.OID {
		return fmt.Errorf("%w: what lies there is damaged", ErrAbsent)
	}
	return nil
}

// Put stores content, unless it is there, and fails unless it is what the pointer says.
func (s Store) Put(p Pointer, content io.Reader) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(p.rel()), 0o755); err != nil {
		return err
	}
	temp := p.rel() + ".cordon-new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a cordon that was killed
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(content, p.Size+1))
	if err == nil && (n != p.Size || hex.EncodeToString(h.Sum(nil)) != p.OID) {
		err = errors.New("the content changed after its pointer was made")
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temp, p.rel())
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// Send copies content to another store that does not have it.
func (s Store) Send(p Pointer, to Store) error {
	if to.Has(p) {
		return nil
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.Copy(p, w)) }()
	err := to.Put(p, r)
	r.CloseWithError(io.ErrClosedPipe)
	return err
}
