package state

import (
	"os"

	"golang.org/x/sys/unix"
)

// subvolumeFlags is BTRFS_IOC_SUBVOL_SETFLAGS.
const subvolumeFlags = 0x4008941a

// unlock makes a directory of btrfs that is the top of a read-only subvolume one that
// can be written. Whoever may write a subvolume may also forbid it, and a worker may
// write its tree.
func unlock(dir *os.File) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(dir.Fd()), &st) != nil || int64(st.Type) != unix.BTRFS_SUPER_MAGIC {
		return
	}
	// The flags are eight bytes, and so is this. Where it is refused, or no
	// subvolume, what was tried before says why it fails.
	_ = unix.IoctlSetWinsize(int(dir.Fd()), subvolumeFlags, &unix.Winsize{})
}
