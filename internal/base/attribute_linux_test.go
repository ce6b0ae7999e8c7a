package base

import "golang.org/x/sys/unix"

// setAttribute makes a directory of a layer hide what is below it.
func setAttribute(p string) error {
	return unix.Lsetxattr(p, "user.overlay.opaque", []byte("y"), 0)
}
