package audit

import (
	"bufio"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// Bounds of what is read from a worker's git directory.
const (
	maxObjects   = 500_000
	maxRefs      = 10_000
	maxSmallFile = 1 << 20
)

// importObjects copies the objects that a worker's git directory holds itself
// into a repository of cordon's own, and returns their names. Every object is
// verified against its name. The worker's alternates, configuration and indexes
// are not read, so that nothing can be imported that the worker could not have
// written down itself, and nothing is run.
func importObjects(ctx context.Context, gitDir string, into git.Repo) ([]git.OID, error) {
	objects, err := openDir(gitDir, "objects")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	names, err := objects.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []git.OID
	for _, name := range names {
		var some []git.OID
		switch {
		case name == "pack":
			some, err = importPacks(ctx, objects, into)
		case len(name) == 2 && strings.Trim(name, "0123456789abcdef") == "":
			some, err = importLoose(ctx, objects, name, into)
		}
		if err != nil {
			return nil, fmt.Errorf("objects/%s: %w", name, err)
		}
		if found = append(found, some...); len(found) > maxObjects {
			return nil, fmt.Errorf("more than %d objects", maxObjects)
		}
	}
	return found, nil
}

// openDir opens a directory below a path of ours, following no link.
func openDir(top string, names ...string) (*os.File, error) {
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: top, Err: err}
	}
	dir := os.NewFile(uintptr(fd), top)
	for _, name := range names {
		next, err := subdir(dir, name)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func subdir(dir *os.File, name string) (*os.File, error) {
	fd, err := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// regular opens a regular file of a directory, following no link.
func regular(dir *os.File, name string) (*os.File, error) {
	fd, err := openat(dir, name, unix.O_RDONLY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return plainfile.Check(os.NewFile(uintptr(fd), name), nil)
}

func importPacks(ctx context.Context, objects *os.File, into git.Repo) ([]git.OID, error) {
	dir, err := subdir(objects, "pack")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []git.OID
	for _, name := range names {
		if !strings.HasSuffix(name, ".pack") {
			continue
		}
		f, err := regular(dir, name)
		if err != nil {
			return nil, err
		}
		oids, err := into.AddPackUnlinked(ctx, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		found = append(found, oids...)
	}
	return found, nil
}

func importLoose(ctx context.Context, objects *os.File, prefix string, into git.Repo) ([]git.OID, error) {
	dir, err := subdir(objects, prefix)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []git.OID
	for _, name := range names {
		oid, err := git.ParseOID(prefix + name)
		if err != nil {
			continue // tmp_obj_…: git does not read it either
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := importObject(dir, name, oid, into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, oid)
	}
	return found, nil
}

// importObject copies one loose object if it is what its name says. The copy is
// what is verified: the worker's own file may be another one a moment later.
func importObject(dir *os.File, name string, oid git.OID, into git.Repo) error {
	f, err := regular(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	place := filepath.Join(into.ObjectsDir(), string(oid[:2]))
	if err := os.MkdirAll(place, 0o700); err != nil {
		return err
	}
	copied, err := os.CreateTemp(place, "tmp_obj_")
	if err != nil {
		return err
	}
	defer os.Remove(copied.Name()) // gone already when all went well
	defer copied.Close()
	if _, err := io.Copy(copied, io.LimitReader(f, maxFile)); err != nil {
		return err
	}
	if _, err := copied.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := verifyObject(copied, oid, into.Format); err != nil {
		return err
	}
	return os.Rename(copied.Name(), filepath.Join(place, string(oid[2:])))
}

func verifyObject(r io.Reader, oid git.OID, format git.Format) error {
	z, err := zlib.NewReader(bufio.NewReader(r))
	if err != nil {
		return err
	}
	h := format.NewHash()
	n, err := io.Copy(h, io.LimitReader(z, maxFile+64))
	if err != nil {
		return err
	}
	if n >= maxFile {
		return errors.New("the object is too large")
	}
	if git.OID(fmt.Sprintf("%x", h.Sum(nil))) != oid {
		return errors.New("the object is not what its name says")
	}
	return nil
}
