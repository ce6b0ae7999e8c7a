package cell

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// limit sets what the kernel counts for each process. What is counted for all
// together is watched.
func (w *warden) limit() error {
	l := w.spec.Limits
	set := map[int]uint64{
		// One byte: below the smallest dump, and the value at which the kernel does
		// not start the host's crash handler either.
		unix.RLIMIT_CORE: 1,
	}
	if l.Files > 0 {
		set[unix.RLIMIT_NOFILE] = uint64(l.Files)
	}
	if l.Processes > 0 {
		// The kernel counts threads. This stops a fork bomb at once; the exact
		// number is watched.
		set[unix.RLIMIT_NPROC] = uint64(l.Processes)*8 + 64
	}
	if l.Memory > 0 {
		set[unix.RLIMIT_DATA] = uint64(max(2*l.Memory, l.Memory+4<<30))
	}
	if l.Disk > 0 {
		set[unix.RLIMIT_FSIZE] = uint64(l.Disk)
	}
	for what, value := range set {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
		value = min(value, now.Max)
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// watchEvery is how often the processes of a cell are counted.
const watchEvery = 100 * time.Millisecond

// watch ends everything in the cell when a limit is reached and says which.
func watch(l Limits, reached chan<- Reason) {
	if l.Memory == 0 && l.Processes == 0 && l.Files == 0 {
		return
	}
	for {
		if over := l.over(rest()); over != "" {
			reached <- over
			for { // what it kills may have forked meanwhile
				_ = unix.Kill(-1, unix.SIGKILL)
				time.Sleep(watchEvery / 10)
			}
		}
		time.Sleep(watchEvery)
	}
}

func (l Limits) over(pids []int) Reason {
	if l.Processes > 0 && len(pids) > l.Processes {
		return ProcessLimit
	}
	var memory int64
	for _, pid := range pids {
		memory += resident(pid)
		if l.Files > 0 && descriptors(pid) >= l.Files {
			return FileLimit
		}
	}
	if l.Memory > 0 && memory+shared() > l.Memory {
		return MemoryLimit
	}
	return ""
}

// resident is the memory that a process has for itself.
func resident(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0 // it has ended
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0
	}
	all, _ := strconv.ParseInt(f[1], 10, 64)
	files, _ := strconv.ParseInt(f[2], 10, 64)
	return (all - files) * int64(os.Getpagesize())
}

func descriptors(pid int) int {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return 0 // it has ended, or does not let itself be looked at
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return len(names)
}

// shared is the memory in the cell's own file systems.
func shared() int64 {
	var total int64
	for _, at := range []string{"/dev/shm", "/run", "/tmp", "/var/tmp"} {
		var st unix.Statfs_t
		if unix.Statfs(at, &st) == nil && st.Type == unix.TMPFS_MAGIC {
			total += int64(st.Blocks-st.Bfree) * st.Bsize
		}
	}
	return total
}
