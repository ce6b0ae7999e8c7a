//go:build !linux

package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// There are no layers where there is no overlayfs.
const pathOnly = unix.O_RDONLY

func opaque(*os.File) bool { return false }

func attributes(*os.File) map[string]string { return nil }
