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
	maxPacks     = 1000
	maxRefs      = 10_000
	maxListed    = 1_000_000 // names in one directory, whatever they are
	maxSmallFile = 1 << 20
)

// leastRoom is copied of every worker's repository, however little it may write.
const leastRoom = 64 << 20

// Room is how many bytes cordon copies of what a worker left, and lets land of it: no
// more than its limit of disk, because files with holes and bytes that nobody reads cost
// a worker nothing. Without such a limit it is what cordon reads of a tree.
func Room(disk int64) int64 {
	if disk <= 0 {
		return maxTotal
	}
	return max(disk, leastRoom)
}

// intake copies objects from a worker's git directory into a repository of cordon's own.
type intake struct {
	into  git.Repo
	room  int64 // bytes that may still be copied
	packs int
	found []git.OID
}

// importObjects copies the objects that a worker's git directory holds itself
// into a repository of cordon's own, and returns their names. Every object is
// verified against its name. The worker's alternates, configuration and indexes
// are not read, so that nothing can be imported that the worker could not have
// written down itself, and nothing is run. No more than room bytes are copied.
func importObjects(ctx context.Context, gitDir string, into git.Repo, room int64) ([]git.OID, error) {
	objects, err := openDir(gitDir, "objects")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	names, err := plainfile.Names(objects, maxListed)
	if err != nil {
		return nil, err
	}
	in := intake{into: into, room: room}
	for _, name := range names {
		switch {
		case name == "pack":
			err = in.eachFile(ctx, objects, name, in.pack)
		case len(name) == 2 && strings.Trim(name, "0123456789abcdef") == "":
			err = in.eachFile(ctx, objects, name, in.loose)
		}
		if err != nil {
			return nil, fmt.Errorf("objects/%s: %w", name, err)
		}
	}
	return in.found, nil
}

// spend takes bytes out of the room.
func (in *intake) spend(n int64) error {
	if in.room -= n; in.room < 0 {
		return errors.New("the objects take more room than limits.disk gives the worker")
	}
	return nil
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

// eachFile imports what the names of a directory of objects say.
func (in *intake) eachFile(ctx context.Context, objects *os.File, sub string, one func(context.Context, *os.File, string) error) error {
	dir, err := subdir(objects, sub)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := plainfile.Names(dir, maxListed)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := one(ctx, dir, name); err != nil {
			return fmt.Errorf("%s: %w", Path(name), err)
		}
		if len(in.found) > maxObjects {
			return fmt.Errorf("more than %d objects", maxObjects)
		}
	}
	return nil
}

// pack imports one pack. Git reads the file itself, and refuses bytes behind its end.
func (in *intake) pack(ctx context.Context, dir *os.File, name string) error {
	if !strings.HasSuffix(name, ".pack") {
		return nil
	}
	if in.packs++; in.packs > maxPacks {
		return fmt.Errorf("more than %d packs", maxPacks)
	}
	f, err := regular(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if err := in.spend(fi.Size()); err != nil {
		return err
	}
	oids, err := in.into.AddPackUnlinked(ctx, f)
	if err != nil {
		return err
	}
	in.found = append(in.found, oids...)
	large, err := in.into.Larger(ctx, oids, maxFile)
	if err == nil && large != "" {
		return errTooLarge
	}
	return err
}

// loose imports one object if it is what its name says. The copy is what is verified:
// the worker's own file may be another one a moment later.
func (in *intake) loose(_ context.Context, dir *os.File, name string) error {
	oid, err := git.ParseOID(dir.Name() + name)
	if err != nil {
		return nil // tmp_obj_…: git does not read it either
	}
	f, err := regular(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	place := filepath.Join(in.into.ObjectsDir(), string(oid[:2]))
	if err := os.MkdirAll(place, 0o700); err != nil {
		return err
	}
	copied, err := os.CreateTemp(place, "tmp_obj_")
	if err != nil {
		return err
	}
	defer os.Remove(copied.Name()) // gone already when all went well
	defer copied.Close()
	if err := in.copyObject(copied, f, oid); err != nil {
		return err
	}
	in.found = append(in.found, oid)
	return os.Rename(copied.Name(), filepath.Join(place, string(oid[2:])))
}

// copyObject copies an object while it is verified, up to the end of its stream. Like
// git, it refuses an object that anything follows.
func (in *intake) copyObject(to io.Writer, from io.Reader, oid git.OID) error {
	r := &teeReader{from: bufio.NewReader(from), to: bufio.NewWriter(to), spend: in.spend}
	if err := verifyObject(r, oid, in.into.Format); err != nil {
		return err
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("extra bytes follow the object in its file")
	}
	return r.to.Flush()
}

// teeReader copies what is read from it. It gives out single bytes, so that zlib reads
// none behind the end of its stream.
type teeReader struct {
	from  *bufio.Reader
	to    *bufio.Writer
	spend func(int64) error
}

func (t *teeReader) ReadByte() (byte, error) {
	b, err := t.from.ReadByte()
	if err != nil {
		return 0, err
	}
	return b, errors.Join(t.spend(1), t.to.WriteByte(b))
}

func (t *teeReader) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n == 0 {
		return 0, err
	}
	_, werr := t.to.Write(p[:n])
	return n, errors.Join(t.spend(int64(n)), werr)
}

func verifyObject(r io.Reader, oid git.OID, format git.Format) error {
	z, err := zlib.NewReader(r)
	if err != nil {
		return err
	}
	h := format.NewHash()
	n, err := io.Copy(h, io.LimitReader(z, maxFile+64))
	if err != nil {
		return err
	}
	if n >= maxFile {
		return errTooLarge
	}
	if git.OID(fmt.Sprintf("%x", h.Sum(nil))) != oid {
		return errors.New("the content of the object does not match its name")
	}
	return nil
}

var errTooLarge = fmt.Errorf("an object of more than %d bytes", maxFile)
