package limit

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// SetForProcesses sets what the kernel counts for each process. What is counted for all
// together is watched.
func SetForProcesses(s plan.Spec) error {
	l := s.Limits
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
	if s.Counting() == plan.ByProcess {
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
		most := value
		if what == unix.RLIMIT_NPROC {
			most = min(value+wardenThreads, now.Max) // see spare
		}
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: value, Max: most}); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// SpareThreads lets the warden itself start threads when the worker has used up what it
// may: a runtime that cannot ends with a stack trace. A worker that raises its own
// limit by as much is still counted.
func SpareThreads() {
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &now) == nil {
		_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: now.Max, Max: now.Max}) // what was hard already stays
	}
}

// wardenThreads is what the first process of a cell needs for itself.
const wardenThreads = 16

// Everything is looked at once in lookEvery. Where few processes are allowed they
// are counted more often: a fork bomb is quick.
const (
	lookEvery  = 100 * time.Millisecond
	CountEvery = 10 * time.Millisecond
	few        = 512
)

// Ticks are when to look. Without limits it is never.
func Ticks(l plan.Limits) (look, count <-chan time.Time) {
	if l.Memory > 0 || l.Processes > 0 || l.Files > 0 || l.Disk > 0 {
		look = time.Tick(lookEvery)
	}
	if l.Processes > 0 && l.Processes <= few {
		count = time.Tick(CountEvery)
	}
	return look, count
}

// Reached says which limit the processes of a cell have reached together, or "".
// layers is the file system of the layers that are not kept.
func Reached(s plan.Spec, pids []int, layers int, sockets *SocketMeter) string {
	l := s.Limits
	if l.Group {
		l.Memory = 0
	}
	var memory, disk int64
	tasks := 0
	seen := map[inode]bool{} // files without a name that several processes hold
	for _, pid := range pids {
		dir, status := living(pid)
		fds := NumberedEntries(dir + "/fd")
		if l.Memory > 0 || l.Disk > 0 {
			inMemory, onDisk := nameless(dir+"/fd/", fds, seen)
			memory += resident(status) + inMemory
			disk += onDisk
		}
		tasks += threads(pid)
		if l.Files > 0 && len(fds) >= l.Files {
			return Files
		}
	}
	kept := keptInMemory(s, layers)
	if l.Memory > 0 {
		inSockets, err := sockets.used()
		if err != nil {
			return Unwatched
		}
		memory += ipcMemory() + int64(tasks)*threadSize + inSockets
	}
	switch {
	case l.Processes > 0 && tasks >= l.Processes:
		return Processes
	case l.Memory > 0 && memory+kept > l.Memory:
		return Memory
	case l.Disk > 0 && kept+disk >= l.Disk:
		return Disk
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

// keptInMemory is the memory in the cell's own file systems: what is written there is on no
// disk. A layer that is kept lies in a file system of the host's, which holds others' files.
func keptInMemory(s plan.Spec, layers int) int64 {
	var st unix.Statfs_t
	total := int64(0)
	if unix.Fstatfs(layers, &st) == nil {
		total += used(st)
	}
	own := []string{"/dev/shm"}
	for _, op := range s.View {
		if op.Do == plan.Tmpfs {
			own = append(own, op.At)
		}
	}
	for _, at := range own {
		if unix.Statfs(at, &st) == nil && st.Type == unix.TMPFS_MAGIC {
			total += used(st)
		}
	}
	return total
}

// inodeSize is what the kernel keeps of a file in memory beside its content.
const inodeSize = 1 << 10

func used(st unix.Statfs_t) int64 {
	return int64(st.Blocks-st.Bfree)*st.Bsize + int64(st.Files-st.Ffree)*inodeSize
}
