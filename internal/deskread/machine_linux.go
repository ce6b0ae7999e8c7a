package deskread

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/desk"
)

// MachineOf reads what the machine has and what is taken of it, with the disk of a directory. What cannot be
// read is 0.
func MachineOf(dir string) (m desk.Machine) {
	m.Processors = runtime.NumCPU()
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &m.Load)
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if total, free := kilobytes(string(text), "MemTotal:"), kilobytes(string(text), "MemAvailable:"); free > 0 {
			m.Memory, m.MemoryTotal = total-free, total
		}
	}
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil {
		m.DiskFree = int64(fs.Bavail) * int64(fs.Bsize)
	}
	return m
}

// kilobytes is a number of /proc/meminfo in bytes.
func kilobytes(text, name string) (n int64) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n << 10
}
