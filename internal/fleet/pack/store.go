// Package pack moves commits between a home and its nodes as files that are named by their
// content, in pieces, and decides what a home lets in.
//
// A home makes the missing part of a base for a node. A node makes its result, one commit on
// top of that base. The home receives the result in pieces, never more than its signed
// manifest says, and admits it: into a repository of its own, with every object and every
// link checked, and with the tree audited from scratch against the lease.
//
// It refuses a pack that differs from its manifest, that brings anything beside that commit,
// or that names an object which the node was never given. It refuses to write into the
// operator's repository, and to decide that a result lands: the gate does.
package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/fleet/packname"
	"cordon/internal/git"
)

// Store keeps packs in a directory that only its user can read. It is a cache: all of it can be
// made again.
type Store struct{ Dir string }

// Piece is the longest piece of a pack in one message.
const Piece = 512 << 10

var (
	// ErrDiffers says that a pack is not the one that was named.
	ErrDiffers = errors.New("the pack differs from its name")
	// ErrTooLong says that a pack would be longer than it may be.
	ErrTooLong = errors.New("the pack is too long")
)

func (s Store) path(sum string) string { return filepath.Join(s.Dir, sum+".pack") }

// Make writes everything that wanted reaches and known does not into a pack of at most so many
// bytes. A thin pack holds changes of what known reaches, for somebody who has that.
func (s Store) Make(ctx context.Context, from git.Repo, wanted git.OID, known []git.OID, thin bool, most int64) (packname.Name, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return packname.Name{}, err
	}
	f, err := os.CreateTemp(s.Dir, "new-*")
	if err != nil {
		return packname.Name{}, err
	}
	defer os.Remove(f.Name()) // it has another name by then, or nobody needs it
	sum := sha256.New()
	to := &bounded{to: io.MultiWriter(f, sum), left: most}
	var flags []string
	if thin {
		flags = append(flags, "--thin")
	}
	err = from.WritePack(ctx, to, []git.OID{wanted}, known, flags...)
	if to.over {
		err = fmt.Errorf("%w: that of %s is longer than %d bytes", ErrTooLong, wanted.Short(), most)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return packname.Name{}, err
	}
	made := packname.Name{Sum: hex.EncodeToString(sum.Sum(nil)), Size: most - to.left}
	return made, os.Rename(f.Name(), s.path(made.Sum))
}

// bounded fails a writer that writes more than is left.
type bounded struct {
	to   io.Writer
	left int64
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.over = true
		return 0, ErrTooLong
	}
	b.left -= int64(len(p))
	return b.to.Write(p)
}

// Open opens a pack that is there and is the one that is named.
func (s Store) Open(p packname.Name) (*os.File, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return open(s.path(p.Sum), p)
}

// open opens a file that is the pack that is named.
func open(path string, p packname.Name) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, p.Size+1))
	if err == nil && (n != p.Size || hex.EncodeToString(sum.Sum(nil)) != p.Sum) {
		err = ErrDiffers
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads a piece of a pack.
func (s Store) Read(p packname.Name, offset int64) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if offset < 0 || offset >= p.Size {
		return nil, fmt.Errorf("the pack has no byte %d", offset)
	}
	f, err := os.Open(s.path(p.Sum))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	piece := make([]byte, min(Piece, p.Size-offset))
	_, err = f.ReadAt(piece, offset)
	return piece, err
}

// Add adds a piece to a pack that arrives, and returns the offset of the next: the size, when
// all is there and is the pack that was named. A piece at another offset changes nothing. A pack
// that turns out to differ is thrown away, and begins anew.
func (s Store) Add(p packname.Name, offset int64, piece []byte) (next int64, err error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	if fi, err := os.Stat(s.path(p.Sum)); err == nil && fi.Size() == p.Size { // it got its name when all of it was there
		return p.Size, nil
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return 0, err
	}
	part := filepath.Join(s.Dir, p.Sum+".part")
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case offset != fi.Size():
		return fi.Size(), nil
	case len(piece) > Piece || offset+int64(len(piece)) > p.Size:
		return offset, fmt.Errorf("a piece goes beyond the %d bytes of the pack", p.Size)
	}
	if _, err := f.Write(piece); err != nil {
		return offset, err
	}
	if next = offset + int64(len(piece)); next < p.Size {
		return next, nil
	}
	return s.complete(p, part)
}

// complete gives a pack that has arrived its name. One that differs never has it: it must not take
// the place of the real one.
func (s Store) complete(p packname.Name, part string) (int64, error) {
	f, err := open(part, p)
	if errors.Is(err, ErrDiffers) {
		return 0, errors.Join(err, os.Remove(part))
	}
	if err != nil {
		return 0, err
	}
	return p.Size, errors.Join(f.Close(), os.Rename(part, s.path(p.Sum)))
}

// Remove removes a pack that nobody needs any more. One that is not there is removed.
func (s Store) Remove(p packname.Name) error {
	if p == (packname.Name{}) {
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	if err := os.Remove(s.path(p.Sum)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Keep removes everything but some packs, and what has arrived of them.
func (s Store) Keep(packs []packname.Name) error {
	entries, err := s.entries()
	for _, e := range entries {
		sum, _, _ := strings.Cut(e.Name(), ".")
		if slices.ContainsFunc(packs, func(p packname.Name) bool { return p.Sum == sum }) {
			continue
		}
		if gone := os.Remove(filepath.Join(s.Dir, e.Name())); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// Size is how many bytes are in the store.
func (s Store) Size() (sum int64, err error) {
	entries, err := s.entries()
	for _, e := range entries {
		if fi, err := e.Info(); err == nil { // it may be gone by now
			sum += fi.Size()
		}
	}
	return sum, err
}

// entries are the files of the store. One that has no directory yet is empty.
func (s Store) entries() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return entries, err
}
