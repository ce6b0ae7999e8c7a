package limit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// MachineMemory is how much memory this process and what it starts can have at most:
// the machine's, or the smallest limit of the control groups around it.
func MachineMemory() (int64, error) {
	total := int64(0)
	for line := range strings.Lines(readText("/proc/meminfo")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes a number
			total = n << 10
		}
	}
	if total == 0 {
		return 0, fmt.Errorf("/proc/meminfo does not say how much memory there is")
	}
	top, own := hierarchy()
	for at := own; top != ""; at = filepath.Dir(at) {
		n, err := strconv.ParseInt(strings.TrimSpace(readText(filepath.Join(top, at, "memory.max"))), 10, 64)
		if err == nil && n > 0 {
			total = min(total, n)
		}
		if at == "/" {
			break
		}
	}
	return total, nil
}
