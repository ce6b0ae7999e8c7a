package audit

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// pathOnly opens a directory that may be searched but not listed.
const pathOnly = unix.O_PATH

// opaque reports whether overlayfs shows nothing of the host's below a directory
// of a layer.
func opaque(dir *os.File) bool {
	var value [2]byte
	n, err := unix.Fgetxattr(int(dir.Fd()), "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
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
		if name == "" || strings.HasPrefix(name, "user.overlay.") || name == "security.selinux" {
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
