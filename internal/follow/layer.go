package follow

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/gitfile"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
)

// Layer is what a command wrote over a directory: the kernel's private layer of an overlay that
// showed the directory below it. The command and all its processes have ended.
type Layer struct {
	Upper string        // what it wrote
	Into  string        // the directory
	Inode uint64        // of the directory when the command began; 0: it is not known
	Since unix.Timespec // what somebody changed there later is not replaced
	Aside string        // where what is not placed is kept; made when it is needed
	Spare string        // for what makes way, on the layer's file system; made when it is needed

	// Refuse says why a change must not be placed; "" where it may.
	Refuse func(Change) string
	// Repository says why git must not be used in a new repository, and Obeyed why not in one with
	// these files; "" where it may.
	Repository func(dir *os.File) string
	Obeyed     func(top string) string
	// Note is told what is going to be kept aside.
	Note func(Kept) error
}

// Change is one that a command made.
type Change struct {
	Path      string
	Removal   bool
	Directory bool
	Link      bool
	Made      string // the outermost directory around it that the command made; "": none
}

// Kept is a change that was not placed, and why. What was to be removed is where it was, and has no At.
type Kept struct {
	Path string `json:"path"`
	At   string `json:"at,omitempty"`
	Why  string `json:"why"`
}

// Placed is what became of a layer.
type Placed struct {
	Changes int
	Kept    []Kept
	More    int // were kept besides
}

// Why a change is not placed, whatever it is.
const (
	whyMeanwhile = "it was changed while the command ran; yours is as it was"
	whyMoved     = "the directory was moved or changed while the command ran; yours is as it was"
	whyStays     = "your file or directory of that name stays"
	whyRuns      = "it is a git repository that could run programs"
	whyMounted   = "it lies on another file system"
)

// Place puts what a command wrote into the directory, and keeps aside what must not get there. It
// takes from the layer what it has dealt with, so that it can be repeated when it was interrupted.
func (l Layer) Place() (Placed, error) {
	p := &placement{Layer: l}
	var err error
	if p.out.Kept, err = l.PutBack(); err != nil {
		return p.out, err
	}
	up, err := placeOf(l.Upper)
	if err != nil {
		return p.out, err
	}
	defer up.in.close()
	into, err := placeOf(l.Into)
	if err != nil {
		return p.out, err
	}
	defer into.in.close()
	if !into.directory() {
		return p.out, fmt.Errorf("%s: %w", l.Into, unix.ENOTDIR)
	}
	p.device = uint64(into.Dev)
	if l.Inode != 0 && into.Ino != l.Inode || into.moved(l.Since) {
		err = up.unlocked(p.keepAll)
	} else {
		err = p.directory(up, into, "", "")
	}
	for _, place := range p.last {
		err = errors.Join(err, place())
	}
	p.spare.release()
	return p.out, err
}

// Empty reports whether nothing was written to a layer.
func (l Layer) Empty() (bool, error) {
	up, err := placeOf(l.Upper)
	if errors.Is(err, unix.ENOENT) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer up.in.close()
	if into, err := placeOf(l.Into); err == nil {
		into.in.close()
		if permissions(into.entry) != permissions(up.entry) {
			return false, nil
		}
	}
	var names []string
	err = up.unlocked(func(d *dir) (err error) { names, err = d.names(); return err })
	return len(names) == 0, err
}

// placement is one while it is under way.
type placement struct {
	Layer
	out     Placed
	device  uint64
	last    []func() error // new repositories: git obeys what lies beside them
	numbers int            // of names that were made up
	spare   *dir
}

// entry is what lies at a name, or nothing.
type entry struct{ unix.Stat_t }

func (e entry) kind() uint32    { return uint32(e.Mode) & unix.S_IFMT }
func (e entry) exists() bool    { return e.Mode != 0 }
func (e entry) directory() bool { return e.kind() == unix.S_IFDIR }

func (e entry) identity() identity { return identityOf(e.Stat_t) }

func permissions(e entry) uint32 { return uint32(e.Mode) & 0o777 }

// since reports whether an inode was changed after a time.
func (e entry) since(t unix.Timespec) bool {
	return e.Ctim.Sec > t.Sec || e.Ctim.Sec == t.Sec && e.Ctim.Nsec > t.Nsec
}

func (d *dir) entry(name string) (e entry, err error) {
	err = unix.Fstatat(d.fd, name, &e.Stat_t, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return entry{}, nil
	}
	return e, err
}

// place is a name in an open directory, and what lies there.
type place struct {
	in   *dir
	name string
	entry
}

// placeOf opens the directory that a path lies in.
func placeOf(abs string) (place, error) {
	in, err := openDir(filepath.Dir(abs))
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", abs, err)
	}
	at, err := in.at(filepath.Base(abs))
	if err == nil && !at.exists() {
		err = unix.ENOENT
	}
	if err != nil {
		in.close()
		return place{}, fmt.Errorf("%s: %w", abs, err)
	}
	return at, nil
}

func (d *dir) at(name string) (place, error) {
	e, err := d.entry(name)
	return place{d, name, e}, err
}

// chmod sets the mode of what is no link.
func (at place) chmod(mode uint32) error { return plainfile.ChmodAt(at.in.fd, at.name, mode&0o7777) }

// locked reports whether a directory of ours gives us fewer rights than we need.
func (at place) locked() bool {
	return at.directory() && uint32(at.Mode)&0o700 != 0o700 && int(at.Uid) == os.Geteuid()
}

// unlocked does something in a directory, also where its mode gives us no right to.
func (at place) unlocked(do func(*dir) error) (err error) {
	if at.locked() && at.chmod(uint32(at.Mode)|0o700) == nil {
		defer func() {
			if failed := at.chmod(uint32(at.Mode)); err == nil && !errors.Is(failed, unix.ENOENT) {
				err = failed
			}
		}()
	}
	d, err := at.in.below(at.name, false)
	if err != nil {
		return err
	}
	defer d.close()
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil || st.Dev != at.Dev || st.Ino != at.Ino {
		return errors.Join(errSaved, err)
	}
	return do(d)
}

// directory places what is in a directory of the layer into one that exists.
func (p *placement) directory(up, into place, rel, made string) error {
	changed := into.since(p.Since)
	err := up.unlocked(func(u *dir) error {
		return into.unlocked(func(i *dir) error { return p.merge(u, i, rel, made) })
	})
	if mode := permissions(up.entry); err == nil && !changed && mode != permissions(into.entry) {
		err = into.chmod(uint32(into.Mode)&^0o777 | mode)
	}
	return err
}

// merge places every entry of a directory.
func (p *placement) merge(up, into *dir, rel, made string) error {
	names, err := up.names()
	if err == nil {
		err = p.clear(up, into, rel, names)
	}
	var parts map[string]bool
	if err == nil {
		parts, err = repositoryParts(up, into, names)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.at(rel), err)
	}
	var failed error
	for _, name := range names {
		below := path.Join(rel, name)
		at, err := up.at(name)
		switch {
		case err != nil || !at.exists():
		case parts[name]:
			err = p.keep(at, below, whyRuns)
		default:
			err = p.place(at, into, below, made)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.at(below), err))
		}
	}
	return failed
}

// change is what an entry of the layer changes.
func (p *placement) change(at place, rel, made string) Change {
	return Change{Path: p.at(rel), Directory: at.directory(), Link: at.kind() == unix.S_IFLNK, Made: made}
}

func (p *placement) at(rel string) string { return filepath.Join(p.Into, filepath.FromSlash(rel)) }

// clear removes what the command removed together with a directory that it made again. From then
// on the directory stands for what it holds, so that what is placed stays when this is repeated.
func (p *placement) clear(up, into *dir, rel string, names []string) error {
	return up.attributes(func(fd int) error {
		opaque, err := overlay.Opaque(fd)
		if err != nil {
			return err
		}
		if opaque {
			there, err := into.names()
			if err != nil {
				return err
			}
			for _, name := range there {
				if !slices.Contains(names, name) {
					if _, err := p.remove(into, name, path.Join(rel, name)); err != nil {
						return err
					}
				}
			}
		}
		return overlay.Forget(fd)
	})
}

// place places one entry.
func (p *placement) place(at place, into *dir, rel, made string) error {
	to, err := into.at(at.name)
	switch {
	case err != nil:
		return err
	case overlay.Removed(&at.Stat_t):
		gone, err := p.remove(into, at.name, rel)
		if err != nil {
			return err
		}
		if gone && to.exists() {
			p.out.Changes++
		}
		return at.in.unlink(at.name)
	case at.kind() == unix.S_IFSOCK: // nobody listens any more
		return at.in.unlink(at.name)
	}
	if why := p.Refuse(p.change(at, rel, made)); why != "" {
		return p.keep(at, rel, why)
	}
	if to.exists() && at.directory() != to.directory() {
		gone, err := p.remove(into, at.name, rel)
		if err != nil {
			return err
		}
		if !gone {
			return p.keep(at, rel, whyStays)
		}
		to.entry = entry{}
	}
	switch {
	case at.directory():
		return p.placeDirectory(at, to, rel, made)
	case strings.EqualFold(at.name, ".git"):
		return p.keep(at, rel, whyRuns)
	}
	return p.placeFile(at, to, rel)
}

// placeDirectory places a directory: as a whole where that can be, and otherwise what is in it.
func (p *placement) placeDirectory(at, to place, rel, made string) error {
	if to.exists() {
		if uint64(to.Dev) != p.device {
			return p.keep(at, rel, whyMounted)
		}
		if to.moved(p.Since) {
			return p.keep(at, rel, whyMoved)
		}
		gone, err := p.makeWay(at, to, rel)
		if err != nil {
			return err
		}
		if !gone {
			return p.placeBelow(at, to, rel, made)
		}
		to.entry = entry{}
	} else {
		made = cmp.Or(made, p.at(rel))
	}
	repository, whole, err := p.look(at, rel, made)
	switch {
	case err != nil:
		return err
	case repository || strings.EqualFold(at.name, ".git"):
		return p.placeRepository(at, rel, made, whole)
	case whole > 0 && moveNew(at, to) == nil:
		p.out.Changes += whole
		return nil
	}
	return p.makeDirectory(at, to, rel, made)
}

// makeWay removes a directory that the command removed and made again, if all that is in it may go.
func (p *placement) makeWay(at, to place, rel string) (gone bool, err error) {
	opaque := false
	err = at.unlocked(func(d *dir) error {
		return d.attributes(func(fd int) (err error) { opaque, err = overlay.Opaque(fd); return err })
	})
	if err != nil || !opaque {
		return false, err
	}
	return p.removeWhole(to, rel)
}

func (p *placement) makeDirectory(at, to place, rel, made string) error {
	if err := unix.Mkdirat(to.in.fd, to.name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	to, err := to.in.at(to.name)
	if err != nil {
		return err
	}
	p.out.Changes++
	if err := p.placeBelow(at, to, rel, made); err != nil {
		return err
	}
	return to.chmod(permissions(at.entry))
}

func (p *placement) placeBelow(at, to place, rel, made string) error {
	if err := p.directory(at, to, rel, made); err != nil {
		return err
	}
	_ = unix.Unlinkat(at.in.fd, at.name, unix.AT_REMOVEDIR) // what is in it waits for the end
	return nil
}

// look walks through a new directory: whether it is a repository, and how many entries there are if
// all of them may be placed together.
func (p *placement) look(at place, rel, made string) (repository bool, whole int, err error) {
	err = at.unlocked(func(d *dir) error {
		names, err := d.names()
		if err != nil {
			return err
		}
		repository, whole = gitfile.IsRepository(names), 1
		for _, name := range names {
			below, err := d.at(name)
			if err != nil {
				return err
			}
			n, err := p.together(below, path.Join(rel, name), made)
			if n == 0 {
				whole = 0
				return err
			}
			whole += n
		}
		return d.attributes(overlay.Forget)
	})
	return repository, whole, err
}

// together counts an entry of a new directory and what is below it; 0 where something of that has to
// be looked at alone.
func (p *placement) together(at place, rel, made string) (int, error) {
	kind, sets := at.kind(), uint32(at.Mode)&(unix.S_ISUID|unix.S_ISGID)
	plain := kind == unix.S_IFDIR || kind == unix.S_IFREG && sets == 0 || kind == unix.S_IFLNK || kind == unix.S_IFIFO
	if !plain || strings.EqualFold(at.name, ".git") || p.Refuse(p.change(at, rel, made)) != "" {
		return 0, nil
	}
	if kind != unix.S_IFDIR {
		return 1, nil
	}
	repository, n, err := p.look(at, rel, made)
	if repository {
		n = 0
	}
	return n, err
}

// placeRepository places a new repository that runs nothing when everything else is in its place:
// git obeys what lies beside it.
func (p *placement) placeRepository(at place, rel, made string, whole int) error {
	top := p.at(rel)
	if strings.EqualFold(at.name, ".git") {
		top = filepath.Dir(top)
	}
	why := whyRuns
	if whole > 0 {
		err := at.unlocked(func(d *dir) error {
			f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err == nil {
				why = p.Repository(f)
				f.Close()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if why != "" {
		return p.keep(at, rel, why)
	}
	p.last = append(p.last, func() error { return p.placeLast(rel, top, made, whole) })
	return nil
}

// placeLast places one of those repositories.
func (p *placement) placeLast(rel, top, made string, whole int) error {
	at, err := placeOf(filepath.Join(p.Upper, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	defer at.in.close()
	if why := p.Obeyed(top); why != "" {
		return p.keep(at, rel, why)
	}
	in, err := openDir(filepath.Dir(p.at(rel)))
	if err != nil {
		return err
	}
	defer in.close()
	to, err := in.at(at.name)
	switch {
	case err != nil:
		return err
	case to.exists():
		return p.keep(at, rel, whyMeanwhile)
	case moveNew(at, to) == nil:
		p.out.Changes += whole
		return nil
	}
	return p.makeDirectory(at, to, rel, made)
}
