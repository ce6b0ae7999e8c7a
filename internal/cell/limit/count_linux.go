package limit

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Where no control group counts the memory of a cell, the warden adds up what each
// part of the kernel tells: the pages and page tables of processes, files without a
// name, pipes, System V objects, threads and sockets. It does not see the kernel's own
// small objects: open files, watches, locks, names of files.
//
// Nor does it see files without a name that only a mapping or a message in a socket holds,
// or a process that is not dumpable, unless they are mapped and in memory. Nothing bounds
// those for one cell: a mapping of one page holds a file of any size, and the Shmem of
// /proc/meminfo is the whole machine's, with the private layers of other cells.

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

// living is where /proc shows the memory and the descriptors of a process, and its status
// there. All threads share them (package seccomp refuses a thread descriptors of its own),
// but one that has ended shows none, and the first may end before the others.
func living(pid int) (dir, status string) {
	dir = "/proc/" + strconv.Itoa(pid)
	if status = readText(dir + "/status"); hasMemory(status) {
		return dir, status
	}
	for _, thread := range NumberedEntries(dir + "/task") {
		at := dir + "/task/" + strconv.Itoa(thread)
		if status := readText(at + "/status"); hasMemory(status) {
			return at, status
		}
	}
	return dir, status
}

func hasMemory(status string) bool { return strings.Contains(status, "\nRssAnon:") }

// resident is the memory in a process's status that is in no file.
func resident(status string) (total int64) {
	for line := range strings.Lines(status) {
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

// nameless is what descriptors hold in files that have no name and that nobody
// seen before holds too: in memory, and on disk. dir is where /proc lists them.
func nameless(dir string, fds []int, seen map[inode]bool) (memory, disk int64) {
	for _, fd := range fds {
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
