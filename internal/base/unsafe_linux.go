package base

import (
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is all that talks to btrfs in structures.

// The requests, as the kernel's header composes them: write, 4096 bytes, 0x94.
const (
	subvolumeCreate = 0x5000940e // BTRFS_IOC_SUBVOL_CREATE
	snapshotCreate  = 0x50009417 // BTRFS_IOC_SNAP_CREATE_V2
)

// volume is the kernel's struct btrfs_ioctl_vol_args.
type volume struct {
	fd   int64
	name [4088]byte
}

// volumeFrom is the kernel's struct btrfs_ioctl_vol_args_v2. Its flags stay zero:
// a snapshot can be written.
type volumeFrom struct {
	fd      int64
	transid uint64
	flags   uint64
	unused  [4]uint64
	name    [4040]byte
}

// makeSubvolume makes an empty subvolume where nothing is.
func makeSubvolume(path string) error {
	var v volume
	if copy(v.name[:len(v.name)-1], filepath.Base(path)) != len(filepath.Base(path)) {
		return unix.ENAMETOOLONG
	}
	return ioctl(filepath.Dir(path), subvolumeCreate, unsafe.Pointer(&v))
}

// makeSnapshot makes a writable snapshot of a subvolume where nothing is.
func makeSnapshot(from, path string) error {
	fd, err := unix.Open(from, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	v := volumeFrom{fd: int64(fd)}
	if copy(v.name[:len(v.name)-1], filepath.Base(path)) != len(filepath.Base(path)) {
		return unix.ENAMETOOLONG
	}
	return ioctl(filepath.Dir(path), snapshotCreate, unsafe.Pointer(&v))
}

// ioctl makes a request of a directory.
func ioctl(dir string, request uintptr, arg unsafe.Pointer) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		return nil
	}
}
