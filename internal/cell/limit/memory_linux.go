package limit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory is how much memory this process and what it starts can have at most:
// the machine's, or the smallest limit of the control groups around it.
func MachineMemory() (int64, error) {
	total := meminfo("MemTotal:")
	if total == 0 {
		return 0, fmt.Errorf("/proc/meminfo does not say how much memory there is")
	}
	groups(func(dir string) {
		if n := bytesIn(dir, "memory.max"); n > 0 {
			total = min(total, n)
		}
	})
	return total, nil
}

// SpareMemory is how much memory new processes can have before something has to give way: what is
// free on the machine, or left in the fullest control group around this process.
func SpareMemory() int64 {
	spare := meminfo("MemAvailable:")
	groups(func(dir string) {
		if most := bytesIn(dir, "memory.max"); most > 0 {
			cached := field(readText(filepath.Join(dir, "memory.stat")), "inactive_file")
			spare = min(spare, max(0, most-bytesIn(dir, "memory.current")+cached))
		}
	})
	return spare
}

// meminfo is a number of /proc/meminfo, in bytes.
func meminfo(name string) int64 { return field(readText("/proc/meminfo"), name) << 10 }

// field is the number behind a name at the start of a line, or 0.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes a number
			return n
		}
	}
	return 0
}

// bytesIn is the number in a file of a control group; 0: there is none.
func bytesIn(dir, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(readText(filepath.Join(dir, name))), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// onDisk reports whether what is written in a directory takes no memory.
func onDisk(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) != nil || st.Type != unix.TMPFS_MAGIC && st.Type != unix.RAMFS_MAGIC
}

// groups visits the control groups around this process, its own first.
func groups(visit func(dir string)) {
	top, own := hierarchy()
	for at := own; top != ""; at = filepath.Dir(at) {
		visit(filepath.Join(top, at))
		if at == "/" {
			break
		}
	}
}
