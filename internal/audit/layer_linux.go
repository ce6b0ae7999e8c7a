package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// pathOnly opens a directory that may be searched but not listed.
const pathOnly = unix.O_PATH

// openAtOnce opens a directory by its path from another, through no link. Where
// the kernel does not do that, it is opened name by name.
func openAtOnce(dir *os.File, path string) (int, error) {
	return unix.Openat2(int(dir.Fd()), path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
}

// opaque reports whether overlayfs shows nothing of the host's below a directory
// of a layer.
func opaque(dir *os.File) bool {
	anew, err := overlayMarks(int(dir.Fd()))
	return err == nil && anew
}

// overlayMark begins the attributes by which overlayfs knows its own. Through the
// overlay nobody can set one.
const overlayMark = "user.overlay."

// overlayMarks reads what overlayfs noted about a file or directory of a layer:
// whether nothing below it shows. A note that makes something else of it than it
// looks like is an error: this cordon's overlays have none.
func overlayMarks(fd int) (anew bool, err error) {
	var room [1024]byte
	names := room[:]
	size, err := unix.Flistxattr(fd, names)
	if errors.Is(err, unix.ERANGE) {
		names = make([]byte, 64<<10) // the kernel's bound
		size, err = unix.Flistxattr(fd, names)
	}
	if errors.Is(err, unix.ENOTSUP) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("its attributes: %w", err)
	}
	for name := range bytes.SplitSeq(names[:size], []byte{0}) {
		mark, ok := bytes.CutPrefix(name, []byte(overlayMark))
		if !ok {
			continue
		}
		switch string(mark) {
		case "opaque":
			var value [2]byte
			n, err := unix.Fgetxattr(fd, string(name), value[:])
			if err != nil || string(value[:n]) != "y" {
				return false, errors.New("it carries an overlayfs mark that this version of cordon does not know")
			}
			anew = true
		case "redirect", "metacopy", "whiteout":
			return false, fmt.Errorf("overlayfs keeps its content elsewhere: %s", name)
		}
	}
	return anew, nil
}

// attributes are the extended attributes that a worker could have set.
func attributes(f *os.File) map[string]string {
	found := map[string]string{}
	size, err := unix.Flistxattr(int(f.Fd()), nil)
	if err != nil || size == 0 {
		return found
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(int(f.Fd()), names); err != nil {
		return found
	}
	for name := range strings.SplitSeq(string(names[:size]), "\x00") {
		if name == "" || strings.HasPrefix(name, overlayMark) || name == "security.selinux" {
			continue
		}
		value := make([]byte, 64<<10) // the kernel's bound
		n, err := unix.Fgetxattr(int(f.Fd()), name, value)
		if err != nil {
			n = 0
		}
		found[name] = string(value[:n])
	}
	return found
}
