package post

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// reach is a name of the socket that is short enough for the kernel, good until
// release: where the path is too long, through a descriptor of its directory.
func reach(dir string) (name string, release func(), err error) {
	name = filepath.Join(dir, Socket)
	if len(name) <= longest {
		return name, func() {}, nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", dir, err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, Socket), func() { unix.Close(fd) }, nil
}
