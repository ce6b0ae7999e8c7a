//go:build !linux && !darwin

package follow

import "golang.org/x/sys/unix"

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// exchange is not there: replace looks, and renames over what it saw.
func exchange(int, string, int, string) error { return unix.ENOSYS }

// renameExclusive renames only to a name that nothing has.
func renameExclusive(from int, a string, to int, b string) error {
	if err := unix.Linkat(from, a, to, b, 0); err != nil {
		return err
	}
	return unix.Unlinkat(from, a, 0)
}
