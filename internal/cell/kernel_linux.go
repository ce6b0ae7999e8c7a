package cell

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Floor is the oldest Linux that has everything a cell is made of.
const Floor = "5.13"

// needed are the youngest system calls that layers are made of, and the version of
// Linux that brought them. Unprivileged overlays came with 5.11. What is newer than
// these is used only where the kernel has it.
var needed = []struct {
	layer       Layer
	what, since string
	ask         func() error // answers ENOSYS where it is missing
}{
	{Namespaces, "mount_setattr", "5.12", func() error { return unix.MountSetattr(-1, "", 0, &unix.MountAttr{}) }},
	{Landlock, "Landlock", Floor, func() error { _, err := ll.LandlockGetABIVersion(); return err }},
}

// lacking finds a layer of a plan that this kernel is too old for, or that a cell
// which may be weaker does better without.
func lacking(s Spec, weaker bool) error {
	for _, l := range s.Layers {
		if err := tooOldFor(l); err != nil {
			return err
		}
	}
	// Version 1 forbids every rename into another directory. A strict cell has it all
	// the same: such renames fail in it as they do between file systems.
	if weaker && s.has(Landlock) && s.has(Namespaces) && landlockVersion() == 1 {
		return &layerError{Landlock, errors.New("version 1, which this kernel has, forbids renaming files into another directory; Linux 5.19 has a later one")}
	}
	return nil
}

// tooOldFor says what this kernel lacks for a layer.
func tooOldFor(l Layer) error {
	for _, n := range needed {
		if n.layer == l && errors.Is(n.ask(), unix.ENOSYS) {
			return &layerError{l, &tooOldError{n.what, n.since}}
		}
	}
	return nil
}

// keepsMarks reports whether a layer of an overlay can lie in memory: overlayfs marks
// directories in it with extended attributes of the user, which a tmpfs has since
// Linux 6.6. Without them no directory of a lower layer can be removed.
func keepsMarks() bool {
	fd, err := unix.MemfdCreate("cordon-try", unix.MFD_CLOEXEC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Fsetxattr(fd, "user.cordon", []byte{1}, unix.XATTR_CREATE) == nil
}

// nothingLeft refuses a cell in which neither mounts nor Landlock keep the host's
// files from the command.
func nothingLeft(missing []Missing) error {
	both := Missing{Layer: Namespaces}
	for _, m := range missing {
		switch m.Layer {
		case Namespaces:
			both.Why, both.Fix = m.Why, m.Fix
		case Landlock:
			both.Why += "; and there is no " + string(Landlock) + " either: " + m.Why
		}
	}
	return &MissingError{both}
}

// noLandlock says why there is none.
func noLandlock() *layerError {
	var old *layerError
	if errors.As(tooOldFor(Landlock), &old) {
		return old
	}
	return &layerError{Landlock, errors.New("it is not among the kernel's lsm=")}
}

// tooOldError is something that came with a later kernel.
type tooOldError struct{ what, since string }

func (e *tooOldError) Error() string {
	return fmt.Sprintf("this kernel, %s, has no %s, which came with Linux %s", release(), e.what, e.since)
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "Linux"
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}
