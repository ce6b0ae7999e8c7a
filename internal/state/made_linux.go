package state

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// made is when a directory was made, which no program can set; "" where that is not known.
// Inode numbers say less: they are given to the next directory.
func made(dir string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
}
