package follow

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// dir is an open directory. Names are single components, and no link is followed.
type dir struct{ fd int }

// ErrLink says that a path leads through something that is not a directory.
var ErrLink = errors.New("it leads through a link")

// openDir opens a directory by its absolute path, without following a link: a
// checkout may lie in a directory that another program writes.
func openDir(abs string) (*dir, error) {
	fd, err := unix.Open("/", dirFlags, 0)
	if err != nil {
		return nil, err
	}
	return (&dir{fd}).walk(strings.Trim(abs, "/"), false)
}

// below opens a directory below another, which stays open.
func (d *dir) below(rel string, create bool) (*dir, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return (&dir{fd}).walk(rel, create)
}

// walk goes down component by component, and closes what it leaves.
func (d *dir) walk(rel string, create bool) (*dir, error) {
	if rel == "" || rel == "." {
		return d, nil
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := unix.Openat(d.fd, name, dirFlags, 0)
		if create && errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(d.fd, name, 0o777); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = unix.Openat(d.fd, name, dirFlags, 0)
			}
		}
		d.close()
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			return nil, ErrLink
		}
		if err != nil {
			return nil, err
		}
		d = &dir{next}
	}
	return d, nil
}

func (d *dir) close() { _ = unix.Close(d.fd) }

// open opens a file. Nothing in a tree may block: a named pipe does not.
func (d *dir) open(name string, flags int, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *dir) unlink(name string) error { return unix.Unlinkat(d.fd, name, 0) }

// inode is what makes a file the same one.
type inode struct{ device, number uint64 }

// identity is what a file was when it was looked at. The time of the last change of
// the inode is left out: renaming sets it.
type identity struct {
	inode
	mode  uint32
	size  int64
	mtime unix.Timespec
}

func (i identity) exists() bool     { return i.mode != 0 }
func (i identity) regular() bool    { return i.mode&unix.S_IFMT == unix.S_IFREG }
func (i identity) directory() bool  { return i.mode&unix.S_IFMT == unix.S_IFDIR }
func (i identity) link() bool       { return i.mode&unix.S_IFMT == unix.S_IFLNK }
func (i identity) executable() bool { return i.regular() && i.mode&0o100 != 0 }

func identityOf(st unix.Stat_t) identity {
	return identity{inode{uint64(st.Dev), st.Ino}, uint32(st.Mode), st.Size, st.Mtim}
}

func identify(f *os.File) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return identityOf(st), err
}

// stat looks at a name. What is not there is the zero identity and ENOENT.
func (d *dir) stat(name string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return identity{}, err
	}
	return identityOf(st), nil
}

// look is stat for a path below d. Nothing is there when a directory above it is
// not; ErrLink says that something else is in the place of one.
func (d *dir) look(rel string) (identity, error) {
	in, err := d.below(path.Dir(rel), false)
	if errors.Is(err, unix.ENOENT) {
		return identity{}, nil
	}
	if err != nil {
		return identity{}, err
	}
	defer in.close()
	id, err := in.stat(path.Base(rel))
	if errors.Is(err, unix.ENOENT) {
		err = nil
	}
	return id, err
}

// readlink returns the target of a link.
func (d *dir) readlink(name string) (string, error) {
	buf := make([]byte, 1<<13)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// content opens what a name holds, as git sees it: the bytes of a file, or the
// target of a link.
func (d *dir) content(name string, id identity) (io.ReadCloser, error) {
	switch {
	case id.link():
		to, err := d.readlink(name)
		return io.NopCloser(strings.NewReader(to)), err
	case id.regular():
		f, err := d.open(name, unix.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		// Another program may have put something else there, on which a read waits.
		if now, err := identify(f); err != nil || now.inode != id.inode || !now.regular() {
			return nil, errors.Join(errSaved, err, f.Close())
		}
		return f, nil
	}
	return nil, errors.New("neither a file nor a link")
}

// attributes opens a directory for what the kernel has noted about it.
func (d *dir) attributes(do func(fd int) error) error {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(int(f.Fd()))
}
