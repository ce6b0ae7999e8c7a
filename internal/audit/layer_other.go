//go:build !linux

package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// There are no layers where there is no overlayfs.
const pathOnly = unix.O_RDONLY

func openAtOnce(*os.File, string) (int, error) { return 0, unix.ENOSYS }

func opaque(*os.File) bool { return false }

func overlayMarks(int) (bool, error) { return false, nil }

func attributes(*os.File) map[string]string { return nil }
