//go:build !linux

package plainfile

import "golang.org/x/sys/unix"

// ChmodAt changes a mode and follows no link.
func ChmodAt(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}
