package host

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// Floor is the oldest Linux that has everything a cell is made of.
const Floor = "5.13"

// needed are the youngest system calls that layers are made of, and the version of
// Linux that brought them. Unprivileged overlays came with 5.11. What is newer than
// these is used only where the kernel has it.
var needed = []struct {
	layer       plan.Layer
	what, since string
	ask         func() error // answers ENOSYS where it is missing
}{
	{plan.Namespaces, "mount_setattr", "5.12", func() error { return unix.MountSetattr(-1, "", 0, &unix.MountAttr{}) }},
	{plan.Landlock, "Landlock", Floor, func() error { _, err := ll.LandlockGetABIVersion(); return err }},
}

// CheckKernel finds a layer of a plan that this kernel is too old for, or that a cell
// which may be weaker does better without.
func CheckKernel(s plan.Spec, weaker bool) error {
	for _, l := range s.Layers {
		if err := tooOldFor(l); err != nil {
			return err
		}
	}
	// Version 1 forbids every rename into another directory. A strict cell has it all
	// the same: such renames fail in it as they do between file systems.
	if weaker && s.Has(plan.Landlock) && s.Has(plan.Namespaces) && LandlockVersion() == 1 {
		return &plan.LayerError{Layer: plan.Landlock,
			Err: errors.New("this kernel has version 1, which forbids renaming files into another directory; Linux 5.19 has a later version")}
	}
	return nil
}

// tooOldFor says what this kernel lacks for a layer.
func tooOldFor(l plan.Layer) error {
	for _, n := range needed {
		if n.layer == l && errors.Is(n.ask(), unix.ENOSYS) {
			return &plan.LayerError{Layer: l, Err: &tooOldError{n.what, n.since}}
		}
	}
	return nil
}

// KeepsMarks reports whether a layer of an overlay can lie in memory: overlayfs marks
// directories in it with extended attributes of the user, which a tmpfs has since
// Linux 6.6. Without them no directory of a lower layer can be removed.
func KeepsMarks() bool {
	fd, err := unix.MemfdCreate("cordon-try", unix.MFD_CLOEXEC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Fsetxattr(fd, "user.cordon", []byte{1}, unix.XATTR_CREATE) == nil
}

// NothingLeft refuses a cell in which neither mounts nor Landlock keep the host's
// files from the command.
func NothingLeft(missing []plan.Missing) error {
	both := plan.Missing{Layer: plan.Namespaces}
	for _, m := range missing {
		switch m.Layer {
		case plan.Namespaces:
			both.Why, both.Fix = m.Why, m.Fix
		case plan.Landlock:
			both.Why += "; and there is no " + string(plan.Landlock) + " either: " + m.Why
		}
	}
	return &plan.MissingError{Missing: both}
}

// NoLandlock says why there is none.
func NoLandlock() *plan.LayerError {
	var old *plan.LayerError
	if errors.As(tooOldFor(plan.Landlock), &old) {
		return old
	}
	return &plan.LayerError{Layer: plan.Landlock, Err: errors.New("it is not in the kernel's list lsm=")}
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

// LandlockVersion is what the kernel offers; 0 when there is none.
func LandlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}
