package follow

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
)

// placeFile places a file, a link or a named pipe.
func (p *placement) placeFile(at, to place, rel string) error {
	if to.exists() && to.since(p.Since) {
		if samePlace(at, to) {
			return at.in.unlink(at.name)
		}
		return p.keep(at, rel, whyMeanwhile)
	}
	if at.kind() == unix.S_IFREG {
		if err := at.disown(); err != nil {
			return err
		}
	}
	err := move(at, to)
	if errors.Is(err, unix.EXDEV) {
		err = moveCopy(at, to)
	}
	if errors.Is(err, errSaved) {
		return p.keep(at, rel, whyMeanwhile)
	}
	if err == nil {
		p.out.Changes++
	}
	return err
}

// samePlace reports whether two files are the same.
func samePlace(at, to place) bool {
	return sameFile(at.in, at.name, at.identity(), to.in, to.name, to.identity())
}

// disown takes from a file of the layer what nobody is to have: the right to run it as somebody else, and
// what the kernel has noted about it.
func (at place) disown() error {
	if uint32(at.Mode)&(unix.S_ISUID|unix.S_ISGID) != 0 {
		if err := at.chmod(uint32(at.Mode) &^ (unix.S_ISUID | unix.S_ISGID)); err != nil {
			return err
		}
	}
	f, err := at.in.open(at.name, unix.O_RDONLY, 0)
	if err != nil {
		return nil // it cannot be read, and its notes mean nothing outside of a layer
	}
	defer f.Close()
	return overlay.Forget(int(f.Fd()))
}

// move renames to a name that nothing has, or in the place of what was seen there: the two are exchanged,
// so that a save at that instant is put back.
func move(at, to place) error {
	if !to.exists() {
		return moveNew(at, to)
	}
	err := exchange(at.in.fd, at.name, to.in.fd, to.name)
	if unsupported(err) {
		if now, err := to.in.entry(to.name); err != nil || now.identity() != to.identity() {
			return errors.Join(errSaved, err)
		}
		return unix.Renameat(at.in.fd, at.name, to.in.fd, to.name)
	}
	if errors.Is(err, unix.ENOENT) {
		return errSaved
	}
	if err != nil {
		return err
	}
	if was, err := at.in.entry(at.name); err == nil && was.identity() == to.identity() {
		return at.in.unlink(at.name)
	}
	if err := exchange(at.in.fd, at.name, to.in.fd, to.name); err != nil {
		return fmt.Errorf("it was changed at that moment, and what was there is in cordon's layer: %w", err)
	}
	return errSaved
}

// moveNew renames to a name that nothing has. Only who can write a directory can move it.
func moveNew(at, to place) error {
	if at.locked() {
		if err := at.chmod(uint32(at.Mode) | 0o700); err != nil {
			return err
		}
	}
	err := renameExclusive(at.in.fd, at.name, to.in.fd, to.name)
	if unsupported(err) {
		err = renameAbsent(at, to)
	}
	if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) {
		err = errSaved
	}
	if at.locked() {
		now := at
		if err == nil {
			now = place{to.in, to.name, at.entry}
		}
		err = errors.Join(err, now.chmod(uint32(at.Mode)))
	}
	return err
}

// renameAbsent renames where the file system cannot make sure that nothing has the name.
func renameAbsent(at, to place) error {
	if now, err := to.in.entry(to.name); err != nil || now.exists() {
		return errors.Join(errSaved, err)
	}
	if at.directory() {
		return unix.Renameat(at.in.fd, at.name, to.in.fd, to.name)
	}
	if err := unix.Linkat(at.in.fd, at.name, to.in.fd, to.name, 0); err != nil {
		return err
	}
	return at.in.unlink(at.name)
}

// moveCopy moves from another file system.
func moveCopy(at, to place) error {
	beside, err := copyBeside(at, to.in)
	if err != nil {
		return err
	}
	if err := move(beside, to); err != nil {
		return errors.Join(err, to.in.unlink(beside.name))
	}
	return at.in.unlink(at.name)
}

func madeUp() string { return ".cordon-" + rand.Text()[:12] }

// copyBeside copies a file or a link into a directory, under a name that is made up.
func copyBeside(at place, into *dir) (place, error) {
	name := madeUp()
	from, err := at.in.content(at.name, at.identity())
	if err != nil {
		return place{}, err
	}
	defer from.Close()
	if at.kind() == unix.S_IFLNK {
		to, err := io.ReadAll(from)
		if err == nil {
			err = unix.Symlinkat(string(to), into.fd, name)
		}
		if err != nil {
			return place{}, err
		}
		return into.at(name)
	}
	f, err := into.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return place{}, err
	}
	err = copySparse(f, from)
	if err == nil {
		err = errors.Join(f.Chmod(os.FileMode(permissions(at.entry))), setTime(f, at.Mtim))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return place{}, errors.Join(err, into.unlink(name))
	}
	return into.at(name)
}

func setTime(f *os.File, mtime unix.Timespec) error {
	t := unix.Timeval{Sec: mtime.Sec, Usec: unix.NsecToTimeval(unix.TimespecToNsec(mtime)).Usec}
	return unix.Futimes(int(f.Fd()), []unix.Timeval{t, t})
}

// mostKept is how many changes that were not placed are listed.
const mostKept = 1000

func (p *placement) list(k Kept) {
	if len(p.out.Kept) == mostKept {
		p.out.More++
		return
	}
	p.out.Kept = append(p.out.Kept, k)
}

// made opens a directory of cordon's own, and makes it where it is not there yet.
func made(path string) (*dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return openDir(path)
}

// keep moves an entry of the layer aside, where git takes it for no repository.
func (p *placement) keep(at place, rel, why string) error {
	in, err := made(p.Aside)
	if err != nil {
		return err
	}
	defer in.close()
	p.numbers++
	name := fmt.Sprintf("%d-%s", p.numbers, strings.TrimLeft(path.Base(rel), "."))
	k := Kept{Path: p.at(rel), At: filepath.Join(p.Aside, name), Why: why}
	if p.Note != nil {
		if err := p.Note(k); err != nil {
			return fmt.Errorf("it cannot be recorded that it is kept: %w", err)
		}
	}
	if err := at.disarm(); err != nil {
		return fmt.Errorf("git would treat what is kept as a repository: %w", err)
	}
	if err := moveNew(at, place{in: in, name: name}); err != nil {
		return err
	}
	p.list(k)
	return nil
}

// disarm renames every HEAD in a directory, which then is no repository, and lets its owner into it.
func (at *place) disarm() error {
	if !at.directory() {
		return nil
	}
	if at.locked() {
		if err := at.chmod(uint32(at.Mode) | 0o700); err != nil {
			return err
		}
		at.Mode |= 0o700
	}
	return at.unlocked(func(d *dir) error {
		names, err := d.names()
		if err != nil {
			return err
		}
		for _, name := range names {
			below, err := d.at(name)
			if err == nil {
				err = below.disarm()
			}
			if err == nil && name == "HEAD" {
				err = moveNew(below, place{in: d, name: "HEAD.disarmed-" + rand.Text()[:8]})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
