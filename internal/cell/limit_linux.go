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
		// Threads count, as they do for the kernel. This stops a fork bomb at once,
		// but not one of root's, for whom it is only watched.
		set[unix.RLIMIT_NPROC] = uint64(l.Processes) + wardenThreads
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

// wardenThreads is what the first process of a cell needs for itself.
const wardenThreads = 16

// Everything is looked at once in lookEvery. Where few processes are allowed they
// are counted more often: a fork bomb is quick.
const (
	lookEvery  = 100 * time.Millisecond
	countEvery = 10 * time.Millisecond
	few        = 512
)

// watch says which limit is reached.
func (w *warden) watch(reached chan<- Reason) {
	l := w.spec.Limits
	if l.Memory == 0 && l.Processes == 0 && l.Files == 0 && l.Disk == 0 {
		return
	}
	for {
		over := w.over(rest())
		for until := time.Now().Add(lookEvery); over == "" && time.Now().Before(until); {
			if l.Processes == 0 || l.Processes > few {
				time.Sleep(lookEvery)
				continue
			}
			time.Sleep(countEvery)
			if n := len(numbers("/proc")); n > l.Processes {
				over = w.over(rest())
			}
		}
		if over != "" {
			reached <- over
			return
		}
	}
}

// over says which limit the processes of the cell have reached together.
func (w *warden) over(pids []int) Reason {
	l := w.spec.Limits
	var memory int64
	tasks := 0
	for _, pid := range pids {
		memory += resident(pid)
		tasks += threads(pid)
		if l.Files > 0 && descriptors(pid) >= l.Files {
			return FileLimit
		}
	}
	kept := w.kept()
	switch {
	case l.Processes > 0 && tasks >= l.Processes:
		return ProcessLimit
	case l.Memory > 0 && memory+kept > l.Memory:
		return MemoryLimit
	case l.Disk > 0 && kept > l.Disk:
		return DiskLimit
	}
	return ""
}

// threads is how many a process has; 0 when it has ended.
func threads(pid int) int {
	var st unix.Stat_t
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/task", &st) != nil {
		return 0
	}
	return int(st.Nlink) - 2
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

// kept is the memory in the cell's own file systems: what is written there is on no
// disk.
func (w *warden) kept() int64 {
	var st unix.Statfs_t
	total := int64(0)
	if unix.Fstatfs(w.layers, &st) == nil {
		total += used(st)
	}
	for _, at := range []string{"/dev/shm", "/run", "/tmp", "/var/tmp"} {
		if unix.Statfs(at, &st) == nil && st.Type == unix.TMPFS_MAGIC {
			total += used(st)
		}
	}
	return total
}

func used(st unix.Statfs_t) int64 { return int64(st.Blocks-st.Bfree) * st.Bsize }
