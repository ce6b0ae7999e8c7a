package follow

import "golang.org/x/sys/unix"

// dirFlags open a directory that may be searched, whether or not it may be read.
const dirFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// exchange swaps two names.
func exchange(from int, a string, to int, b string) error {
	return unix.Renameat2(from, a, to, b, unix.RENAME_EXCHANGE)
}

// renameExclusive renames only to a name that nothing has.
func renameExclusive(from int, a string, to int, b string) error {
	return unix.Renameat2(from, a, to, b, unix.RENAME_NOREPLACE)
}
