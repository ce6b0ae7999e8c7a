package overlay

import (
	"bytes"
	"errors"

	"golang.org/x/sys/unix"
)

// attribute is how a layer says that a directory shows nothing of those below.
const attribute = "user.overlay.opaque"

// Opaque reports whether a directory of a layer shows nothing of those below.
func Opaque(fd int) (bool, error) {
	var value [2]byte
	n, err := unix.Fgetxattr(fd, attribute, value[:])
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return false, nil
	}
	return err == nil && n == 1 && value[0] == 'y', err
}

// MakeOpaque makes a directory of a layer show nothing of those below.
func MakeOpaque(fd int) error { return unix.Fsetxattr(fd, attribute, []byte("y"), 0) }

// Forget removes what the kernel has noted in attributes of an entry of a layer, so that it is one like
// every other where it is moved to.
func Forget(fd int) error {
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(fd, list)
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	for name := range bytes.SplitSeq(list[:max(n, 0)], []byte{0}) {
		if err == nil && bytes.HasPrefix(name, []byte("user.overlay.")) {
			err = unix.Fremovexattr(fd, string(name))
		}
	}
	return err
}
