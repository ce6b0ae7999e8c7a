package follow

import (
	"errors"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
)

// Somebody may move another directory into the place of one that the command saw. What is in it is as old as what the command
// saw, so the time of a file's last change does not tell.

// moved reports whether a directory may have been put into its place after a time: that changes it, and
// nothing in it.
func (e entry) moved(t unix.Timespec) bool { return e.directory() && e.since(t) && e.Ctim != e.Mtim }

// keepAll keeps aside what was written over a directory that is another one now.
func (p *placement) keepAll(up *dir) error {
	names, err := up.names()
	for _, name := range names {
		at, failed := up.at(name)
		switch {
		case failed != nil || !at.exists():
		case overlay.Removed(&at.Stat_t):
			p.list(Kept{Path: p.at(name), Why: whyMoved})
			failed = up.unlink(name)
		default:
			failed = p.keep(at, name, whyMoved)
		}
		err = errors.Join(err, failed)
	}
	return err
}
