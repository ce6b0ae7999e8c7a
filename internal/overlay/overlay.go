// Package overlay reads directories that lie on each other the way the kernel's
// overlay shows them, without mounting anything: the topmost name wins, a sign of
// removal hides what is below, directories are merged until one says that it is
// opaque.
//
// The layers may be a worker's. The package refuses to follow a link in one, and it
// never writes to one.
package overlay

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// Dir is a directory as it is seen through all layers.
type Dir struct {
	parts []*os.File // topmost first
	of    []int      // the layer that each is in; nil: they are the layers
}

// layer is the one that a part is in.
func (d *Dir) layer(part int) int {
	if d.of == nil {
		return part
	}
	return d.of[part]
}

// Open opens layers by their top directories, topmost first.
func Open(layers ...string) (*Dir, error) {
	d := &Dir{}
	for _, path := range layers {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			d.Close()
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		d.parts = append(d.parts, os.NewFile(uintptr(fd), path))
	}
	return d, nil
}

// Close lets the directory go.
func (d *Dir) Close() {
	for _, f := range d.parts {
		f.Close()
	}
}

// Entry is one name in a directory.
type Entry struct {
	Name string
	Stat unix.Stat_t
	in   []*os.File // the parts that it is made of; one, unless it is a directory
	of   []int      // the layers that those are in
	err  error      // a directory that cannot be looked into
}

// Kind is the type of an entry, as in the kernel's st_mode.
func (e Entry) Kind() uint32 { return uint32(e.Stat.Mode) & unix.S_IFMT }

// Layer is the topmost layer that has it, counted from 0.
func (e Entry) Layer() int { return e.of[0] }

// Perm are its permissions.
func (e Entry) Perm() fs.FileMode { return fs.FileMode(e.Stat.Mode & 0o777) }

// Entry looks a name up. What is not there is fs.ErrNotExist.
func (d *Dir) Entry(name string) (Entry, error) {
	e := Entry{Name: name}
	for i, part := range d.parts {
		var st unix.Stat_t
		err := again(func() error { return unix.Fstatat(int(part.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return e, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		directory := uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR
		if Removed(&st) || len(e.in) > 0 && !directory {
			break
		}
		if len(e.in) == 0 {
			e.Stat = st
		}
		if e.in, e.of = append(e.in, part), append(e.of, d.layer(i)); !directory {
			break
		}
		opaque, err := opaqueAt(part, name)
		if e.err = err; err != nil || opaque {
			break
		}
	}
	if len(e.in) == 0 {
		return e, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return e, nil
}

// maxNames is how many names one directory of a layer may hold.
const maxNames = 5_000_000

// Names lists every name that a layer adds, changes or removes, in order.
func (d *Dir) Names() ([]string, error) {
	var names []string
	for _, part := range d.parts {
		if _, err := part.Seek(0, 0); err != nil {
			return nil, err
		}
		some, err := plainfile.Names(part, maxNames)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Entries lists the directory, in the order of names.
func (d *Dir) Entries() ([]Entry, error) {
	names, err := d.Names()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, name := range names {
		e, err := d.Entry(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by a layer above
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Dir opens an entry that is a directory. The one that it is in has to be open.
func (e Entry) Dir() (*Dir, error) {
	if e.err != nil {
		return nil, e.err
	}
	d := &Dir{of: e.of}
	for _, part := range e.in {
		fd, err := openat(part, e.Name, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.parts = append(d.parts, os.NewFile(uintptr(fd), e.Name))
	}
	return d, nil
}

// Open opens an entry that is a plain file.
func (e Entry) Open() (*os.File, error) {
	fd, err := openat(e.in[0], e.Name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return plainfile.Check(os.NewFile(uintptr(fd), e.Name), nil)
}

// Readlink is where an entry that is a link leads.
func (e Entry) Readlink() (string, error) {
	buf := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(int(e.in[0].Fd()), e.Name, buf)
	if err == nil && n == len(buf) {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: e.Name, Err: err}
	}
	return string(buf[:n]), nil
}

// LinkInto gives an entry that is no directory the same name in another directory: both
// are one file, of which a link is not followed.
func (e Entry) LinkInto(dir *os.File) error {
	err := unix.Linkat(int(e.in[0].Fd()), e.Name, int(dir.Fd()), e.Name, 0)
	if err != nil {
		return &fs.PathError{Op: "link", Path: e.Name, Err: err}
	}
	return nil
}

// Sub opens the directory at a path below, through directories only. What is not
// there is fs.ErrNotExist, and what is no directory is unix.ENOTDIR.
func (d *Dir) Sub(path string) (*Dir, error) {
	at := d
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.step(name)
		if at != d {
			at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (d *Dir) step(name string) (*Dir, error) {
	e, err := d.Entry(name)
	if err != nil {
		return nil, err
	}
	if e.Kind() != unix.S_IFDIR {
		return nil, &fs.PathError{Op: "open", Path: name, Err: unix.ENOTDIR}
	}
	return e.Dir()
}

// maxLinks is how many links one path may pass through, as in the kernel.
const maxLinks = 40

// Leads is where a path below leads, through the links that are there: a path below
// again, or one from the root of the system. Beyond what is there it is taken as it
// is written.
func (d *Dir) Leads(path string) (string, error) {
	todo, at := strings.Split(path, "/"), []string{}
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && len(at) == 0:
			return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("it leads out of the tree")}
		case name == "..":
			at = at[:len(at)-1]
			continue
		}
		target, err := d.link(append(slices.Clone(at), name))
		if err != nil {
			return "", err
		}
		if target == "" {
			at = append(at, name)
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "follow", Path: path, Err: unix.ELOOP}
		}
		if strings.HasPrefix(target, "/") {
			return strings.Join(append([]string{target}, todo...), "/"), nil
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return strings.Join(at, "/"), nil
}

// link is the target of the link at a path that leads through directories, or "".
func (d *Dir) link(names []string) (string, error) {
	dir := d
	if n := len(names) - 1; n > 0 {
		sub, err := d.Sub(strings.Join(names[:n], "/"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		defer sub.Close()
		dir = sub
	}
	e, err := dir.Entry(names[len(names)-1])
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || e.Kind() != unix.S_IFLNK {
		return "", err
	}
	return e.Readlink()
}

// Removed reports whether something is the kernel's sign that a name was removed.
func Removed(st *unix.Stat_t) bool {
	return uint32(st.Mode)&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

func opaqueAt(dir *os.File, name string) (bool, error) {
	fd, err := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	return Opaque(fd)
}

func openat(dir *os.File, name string, flags int) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
