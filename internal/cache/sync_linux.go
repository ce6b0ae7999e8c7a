package cache

import (
	"os"

	"golang.org/x/sys/unix"
)

// sync writes everything of a file system to the disk.
func sync(dir *os.File) error { return unix.Syncfs(int(dir.Fd())) }
