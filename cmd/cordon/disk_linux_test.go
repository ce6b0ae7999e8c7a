package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	programs["on-small-disk"] = func() {
		os.Exit(mounted("on-small-disk", func(at string) error {
			return unix.Mount("small", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=40m,mode=0755")
		}))
	}
	programs["read-only"] = func() {
		os.Exit(mounted("read-only", func(at string) error {
			if err := unix.Mount(at, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return err
			}
			return unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		}))
	}
}

// mounted runs a command with something mounted at a directory: NAME DIR COMMAND….
func mounted(name string, mount func(at string) error) int {
	args := os.Args[1:]
	if args[0] != "--inside" {
		return again(syscall.CLONE_NEWNS, []uintptr{unix.CAP_SYS_ADMIN}, append([]string{name, "--inside"}, args...)...)
	}
	if err := mount(args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "stage: %s: %v\n", name, err)
		return 99
	}
	return become(args[2:])
}
