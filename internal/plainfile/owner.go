package plainfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Foreign says how somebody other than the operator and root can have changed a file or
// a directory, and how to mend that; "" if nobody can. In a directory with the sticky bit,
// nobody can replace what is not theirs. The mode of a link means nothing.
func Foreign(path string, st *unix.Stat_t) (problem, hint string) {
	kind := st.Mode & unix.S_IFMT
	sticky := kind == unix.S_IFDIR && st.Mode&unix.S_ISVTX != 0
	switch {
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return fmt.Sprintf("it belongs to uid %d", st.Uid), "it must belong to you or to root"
	case kind != unix.S_IFLNK && st.Mode&0o022 != 0 && !sticky:
		return "others can write it", "chmod go-w " + path
	}
	return "", ""
}
