package follow

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// remove takes away what the command removed. It reports whether nothing is there any more.
func (p *placement) remove(in *dir, name, rel string) (gone bool, err error) {
	at, err := in.at(name)
	if err != nil || !at.exists() {
		return err == nil, err
	}
	if why := p.whyNotRemove(at, rel); why != "" {
		p.list(Kept{Path: p.at(rel), Why: why})
		return false, nil
	}
	if !at.directory() {
		return p.removeFile(at, rel)
	}
	whole, err := p.removeWhole(at, rel)
	if whole || err != nil {
		return whole, err
	}
	gone = true
	err = at.unlocked(func(d *dir) error {
		names, err := d.names()
		for _, n := range names {
			one, failed := p.remove(d, n, path.Join(rel, n))
			gone, err = gone && one, errors.Join(err, failed)
		}
		return err
	})
	if err == nil && gone {
		err = unix.Unlinkat(in.fd, name, unix.AT_REMOVEDIR)
		if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			return false, nil // somebody put something there at this moment
		}
	}
	return gone && err == nil, err
}

// whyNotRemove says why something of the operator's stays.
func (p *placement) whyNotRemove(at place, rel string) string {
	switch why := p.Refuse(Change{Path: p.at(rel), Removal: true, Directory: at.directory()}); {
	case why != "":
		return why
	case uint64(at.Dev) != p.device:
		return whyMounted
	case !at.directory() && at.since(p.Since):
		return whyMeanwhile
	case at.moved(p.Since):
		return whyMoved
	}
	return ""
}

// inSpare is a name in the place for what makes way. A note says where it was: should this process be killed, the next one puts it
// back.
func (p *placement) inSpare(rel string) (place, error) {
	if p.spare == nil {
		d, err := made(p.Spare)
		if err != nil {
			return place{}, err
		}
		p.spare = d
	}
	away := place{in: p.spare, name: madeUp()}
	return away, unix.Symlinkat(p.at(rel), p.spare.fd, away.name+wasAt)
}

// wasAt ends the name of a note.
const wasAt = ".was-at"

// settled removes the note of what was removed, or is back.
func (p *placement) settled(note string, err error) error {
	if err == nil {
		err = p.spare.unlink(note)
	}
	return err
}

// PutBack puts back what made way for a placement that was killed. Where something else lies now, it goes aside.
func (l Layer) PutBack() (list []Kept, err error) {
	p := &placement{Layer: l}
	spare, err := openDir(l.Spare)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer spare.close()
	names, err := spare.names()
	if err != nil {
		return nil, err
	}
	for _, note := range names {
		name, found := strings.CutSuffix(note, wasAt)
		if !found {
			continue
		}
		was, err := os.Readlink(filepath.Join(l.Spare, note))
		if err == nil {
			err = p.putBackTo(spare, name, was)
		}
		if err = errors.Join(err, spare.unlink(note)); err != nil {
			return p.out.Kept, fmt.Errorf("what was at %s lies in %s as %s: %w", was, l.Spare, name, err)
		}
	}
	return p.out.Kept, nil
}

func (p *placement) putBackTo(spare *dir, name, was string) error {
	away, err := spare.at(name)
	if err != nil || !away.exists() {
		return err
	}
	if into, err := openDir(filepath.Dir(was)); err == nil {
		defer into.close()
		if moveNew(away, place{in: into, name: filepath.Base(was)}) == nil {
			return nil
		}
	}
	aside, err := made(p.Aside)
	if err != nil {
		return err
	}
	defer aside.close()
	p.list(Kept{Path: was, At: filepath.Join(p.Aside, name), Why: "it was yours, and something else lies there now"})
	return moveNew(away, place{in: aside, name: name})
}

func (d *dir) release() {
	if d != nil {
		d.close()
	}
}

// removeFile moves a file out of the way and looks at it there: a save at that instant is put back.
func (p *placement) removeFile(at place, rel string) (bool, error) {
	away, err := p.inSpare(rel)
	if err != nil {
		return false, err
	}
	note := away.name + wasAt
	err = moveNew(at, away)
	if errors.Is(err, unix.EXDEV) {
		away = place{in: at.in, name: madeUp()}
		err = moveNew(at, away)
	}
	if errors.Is(err, unix.ENOENT) {
		return true, p.settled(note, nil)
	}
	if err != nil {
		return false, err
	}
	if was, err := away.in.entry(away.name); err == nil && was.identity() == at.identity() {
		return true, p.settled(note, away.in.unlink(away.name))
	}
	p.list(Kept{Path: p.at(rel), Why: whyMeanwhile})
	return false, p.settled(note, p.putBack(away, at))
}

// putBack moves something of the operator's back to where it was.
func (p *placement) putBack(away, at place) error {
	was, err := away.in.at(away.name)
	if err == nil {
		err = moveNew(was, place{in: at.in, name: at.name})
	}
	if err != nil {
		return fmt.Errorf("what was at %s lies in %s as %s: %w", at.name, p.Spare, away.name, err)
	}
	return nil
}

// removeWhole removes a directory in which nothing has to stay. It looks at it where nobody saves
// anything by its name any more.
func (p *placement) removeWhole(at place, rel string) (bool, error) {
	away, err := p.inSpare(rel)
	if err != nil {
		return false, err
	}
	note := away.name + wasAt
	if moveNew(at, away) != nil {
		return false, p.settled(note, nil) // one after the other
	}
	if away, err = away.in.at(away.name); err == nil && p.removable(away, rel) {
		return true, p.settled(note, erase(away))
	}
	return false, errors.Join(err, p.settled(note, p.putBack(away, at)))
}

// removable reports whether all that is below a directory may be removed.
func (p *placement) removable(at place, rel string) bool {
	return at.unlocked(func(d *dir) error {
		names, err := d.names()
		for _, name := range names {
			below, failed := d.at(name)
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			rel := path.Join(rel, name)
			if p.whyNotRemove(below, rel) != "" || below.directory() && !p.removable(below, rel) {
				return errSaved
			}
		}
		return err
	}) == nil
}

// erase removes a directory and what is in it.
func erase(at place) error {
	if !at.directory() {
		return at.in.unlink(at.name)
	}
	if at.locked() {
		if err := at.chmod(uint32(at.Mode) | 0o700); err != nil {
			return err
		}
		at.Mode |= 0o700
	}
	err := at.unlocked(func(d *dir) error {
		names, err := d.names()
		for _, name := range names {
			below, failed := d.at(name)
			if failed == nil {
				failed = erase(below)
			}
			err = errors.Join(err, failed)
		}
		return err
	})
	if err == nil {
		err = unix.Unlinkat(at.in.fd, at.name, unix.AT_REMOVEDIR)
	}
	return err
}
