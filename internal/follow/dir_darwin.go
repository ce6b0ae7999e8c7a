package follow

import "golang.org/x/sys/unix"

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// exchange swaps two names.
func exchange(from int, a string, to int, b string) error {
	return unix.RenameatxNp(from, a, to, b, unix.RENAME_SWAP)
}

// renameExclusive renames only to a name that nothing has.
func renameExclusive(from int, a string, to int, b string) error {
	return unix.RenameatxNp(from, a, to, b, unix.RENAME_EXCL)
}
