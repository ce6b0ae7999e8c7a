package limit

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Where no control group counts the memory of a cell, the warden adds up what each
// part of the kernel tells: the pages and page tables of processes, files without a
// name, pipes, System V objects, threads and sockets. What it cannot see are the
// kernel's own small objects: open files, watches, locks, names of files.

const (
	// threadSize is the kernel's own memory for one thread: its stack and its task.
	threadSize = 32 << 10
	// pipeSize is the least that a pipe can hold, and all that it can once its user
	// has more than fs.pipe-user-pages-soft in larger ones.
	pipeSize = 8 << 10
	// semaphoreSize is what the kernel keeps of one System V semaphore, and of one
	// message beside its bytes.
	semaphoreSize = 64
)

// countedInStatus are the lines of /proc/PID/status that are memory of the process's
// own, in memory or swapped out, with the page tables that map it. Shared memory is
// counted for everybody who maps it.
var countedInStatus = []string{"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"}

// resident is the memory of a process that is in no file.
func resident(pid int) (total int64) {
	for line := range strings.Lines(readText("/proc/" + strconv.Itoa(pid) + "/status")) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		for _, name := range countedInStatus {
			if f[0] == name {
				n, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes a number
				total += n << 10
			}
		}
	}
	return total
}

// inode names a file, whoever has it open.
type inode struct{ device, number uint64 }

// nameless is what a process holds open in files that have no name and that nobody
// seen before holds too: in memory, and on disk.
func nameless(pid int, seen map[inode]bool) (memory, disk int64) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	for _, fd := range NumberedEntries(dir) {
		name := dir + strconv.Itoa(fd)
		to, err := os.Readlink(name)
		var st unix.Stat_t
		if err != nil || unix.Stat(name, &st) != nil {
			continue
		}
		id := inode{uint64(st.Dev), st.Ino}
		if seen[id] {
			continue
		}
		switch {
		case strings.HasPrefix(to, "/memfd:"):
			memory += st.Blocks * 512
		case strings.HasPrefix(to, "pipe:"):
			memory += pipeSize
		case st.Nlink == 0 && st.Mode&unix.S_IFMT == unix.S_IFREG:
			disk += st.Blocks * 512
		default:
			continue
		}
		seen[id] = true
	}
	return memory, disk
}

// ipcMemory is the memory in System V segments, messages and semaphores of the cell's
// own namespace.
func ipcMemory() int64 {
	const resident, swapped, bytes, messages, semaphores = 14, 15, 3, 4, 3 // columns
	small := ipcColumn("msg", messages) + ipcColumn("sem", semaphores)
	return ipcColumn("shm", resident) + ipcColumn("shm", swapped) + ipcColumn("msg", bytes) + small*semaphoreSize
}

// ipcColumn adds up a column of one of the tables.
func ipcColumn(table string, column int) (total int64) {
	for line := range strings.Lines(readText("/proc/sysvipc/" + table)) {
		if f := strings.Fields(line); len(f) > column {
			n, _ := strconv.ParseInt(f[column], 10, 64) // the first line has words
			total += n
		}
	}
	return total
}

// NumberedEntries are the entries of a directory that are one.
func NumberedEntries(dir string) []int {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // what was read will do
	var list []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list
}
