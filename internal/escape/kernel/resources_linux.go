package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Resources are attempts to use more than the policy's limits. Each control is
// small enough for any machine: what it uses is a few times the limit.
func Resources() []arena.Attempt {
	limited := func(name, what, limits string, attack func(*arena.Arena) error, judge func(*arena.Fixture) (string, error), during func(*arena.Fixture, <-chan struct{})) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{
			Policy: "version: 1\nlimits:\n  " + limits + "\n", Attack: attack, Judge: judge, During: during,
		}}
	}
	list := []arena.Attempt{
		limited("processes", "run 300 processes where 64 are allowed", "processes: 64", spawn, above("processes", 200), measure),
		limited("threads", "run 300 threads where 64 are allowed", "processes: 64", threads, above("threads", 200), measure),
		limited("memory", "use 512 MiB where 128 are allowed", "memory: 128MiB", allocate(512), above("memory", 400), measure),
		limited("memory-together", "use 512 MiB in eight processes where 128 are allowed", "memory: 128MiB", allocateTogether, above("memory", 400), measure),
		limited("memory-file", "use 512 MiB in a nameless file where 128 are allowed", "memory: 128MiB", allocateFile, arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("memory-page-tables", "use 512 MiB of page tables where 128 are allowed", "memory: 128MiB", pageTables, arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("memory-sockets", "leave 512 MiB in socket buffers where 128 are allowed", "memory: 128MiB", socketBuffers(unix.AF_UNIX, unix.SOCK_STREAM, false), arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("memory-sockets-closed", "leave 512 MiB in buffers of closed sockets where 128 are allowed", "memory: 128MiB", socketBuffers(unix.AF_UNIX, unix.SOCK_DGRAM, true), arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("memory-datagrams", "leave 512 MiB in datagrams on the loopback where 128 are allowed", "memory: 128MiB", loopbackBuffers, arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("memory-semaphores", "use 512 MiB of semaphores where 128 are allowed", "memory: 128MiB", semaphores, arena.JudgeObtained("it holds 512 MiB"), nil),
		limited("hidden-thread", "use 192 MiB where 64 are allowed, when the first thread has ended", "memory: 64MiB", withoutFirstThread(hiding(pieceOfMemory)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-thread-file", "use 192 MiB in nameless files where 64 are allowed, when the first thread has ended", "memory: 64MiB", withoutFirstThread(hiding(namelessInMemory)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-thread-disk", "write 192 MiB into nameless files of the tree where 64 are allowed, when the first thread has ended", "disk: 64MiB", withoutFirstThread(hiding(namelessOnDisk)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-descriptors", "use 192 MiB in nameless files where 64 are allowed, open in one thread only", "memory: 64MiB", withOwnDescriptors(unshareFiles, hiding(namelessInMemory)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-descriptors-closed", "use 192 MiB in nameless files where 64 are allowed, open in one thread since close_range", "memory: 64MiB", withOwnDescriptors(closeRange, hiding(namelessInMemory)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-descriptors-disk", "write 192 MiB into nameless files of the tree where 64 are allowed, open in one thread only", "disk: 64MiB", withOwnDescriptors(unshareFiles, hiding(namelessOnDisk)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-name", "use 192 MiB where 64 are allowed, in a process whose name reads as the state of one that has ended", "memory: 64MiB", withName("x) Z 1", hiding(pieceOfMemory)), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("hidden-secret", "use 192 MiB of secret memory where 64 are allowed", "memory: 64MiB", hiding(secretMemory), arena.JudgeObtained("it holds 192 MiB"), nil),
		limited("disk-tree", "write 96 MiB into the tree where 16 are allowed", "disk: 16MiB", fill(func(a *arena.Arena) string { return a.In("fill") }), treeAbove(80), nil),
		limited("disk-home", "write 96 MiB into the home where 16 are allowed", "disk: 16MiB", fill(func(a *arena.Arena) string { return a.InHome(".cache/fill") }), arena.JudgeObtained("all was written"), nil),
		limited("disk-tmp", "write 96 MiB into /tmp where 16 are allowed", "disk: 16MiB", fill(func(a *arena.Arena) string { return filepath.Join("/tmp", "cordon-escape."+filepath.Base(a.Base)) }), arena.JudgeObtained("all was written"), nil),
		limited("disk-many", "write 96 MiB into the tree in small files where 16 are allowed", "disk: 16MiB", scatter(func(a *arena.Arena) string { return a.In("fill") }), treeAbove(80), nil),
		limited("disk-home-many", "write 96 MiB into the home in small files where 16 are allowed", "disk: 16MiB", scatter(func(a *arena.Arena) string { return a.InHome(".cache/fill") }), arena.JudgeObtained("all was written"), nil),
		limited("disk-tmp-many", "write 96 MiB into /tmp in small files where 16 are allowed", "disk: 16MiB", scatter(func(a *arena.Arena) string { return filepath.Join("/tmp", "cordon-escape."+filepath.Base(a.Base)) }), arena.JudgeObtained("all was written"), nil),
		limited("disk-shm-many", "write 96 MiB into /dev/shm in small files where 16 are allowed", "disk: 16MiB", scatter(func(a *arena.Arena) string { return filepath.Join("/dev/shm", "cordon-escape."+filepath.Base(a.Base)) }), arena.JudgeObtained("all was written"), nil),
		limited("disk-fallocate", "reserve 96 MiB in the tree where 16 are allowed", "disk: 16MiB", reserve, treeAbove(80), nil),
		limited("files", "open 300 files where 64 are allowed", "files: 64", openMany, above("files", 200), measure),
		limited("time", "run for ten seconds where one is allowed", "time: 1s", outstay, above("seconds", 8), measure),
	}
	for i := range list { // half a gigabyte is much on a small machine
		list[i].Safe = !strings.HasPrefix(list[i].Name, "memory")
	}
	return list
}

func outstay(*arena.Arena) error { time.Sleep(10 * time.Second); return nil }

// above judges by what was measured while the attack ran, if it ran to its end.
func above(what string, limit int) func(*arena.Fixture) (string, error) {
	return func(f *arena.Fixture) (string, error) {
		if n := f.Peaks[what]; n > limit && f.Ended() == "done" {
			return fmt.Sprintf("%s: %d", what, n), nil
		}
		return "", nil
	}
}

// measure looks at the run's processes on the host until it ends.
func measure(f *arena.Fixture, done <-chan struct{}) {
	began := time.Now()
	for {
		now := map[string]int{}
		for _, pid := range f.Alive() {
			now["processes"]++
			dir := "/proc/" + strconv.Itoa(pid)
			now["memory"] += field(dir+"/status", "VmRSS:") / 1024
			now["threads"] += field(dir+"/status", "Threads:")
			if fds, err := os.ReadDir(dir + "/fd"); err == nil {
				now["files"] = max(now["files"], len(fds))
			}
		}
		if f.Begun() && now["processes"] > 0 {
			now["seconds"] = int(time.Since(began) / time.Second)
		}
		for k, n := range now {
			f.Peaks[k] = max(f.Peaks[k], n)
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func field(path, name string) int {
	text, _ := os.ReadFile(path) // gone: nothing
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.Atoi(f[1]) // the kernel writes a number
			return n
		}
	}
	return 0
}

// spawn starts copies that wait, and ends them.
func spawn(a *arena.Arena) error {
	var pids []int
	var last error
	for range 300 {
		pid, err := arena.Stranded(0, 0, 0, 0, 0)
		if err != nil {
			last = fmt.Errorf("after %d: %w", len(pids), err)
			break
		}
		pids = append(pids, pid)
	}
	a.Hold()
	for _, p := range pids {
		_ = unix.Kill(p, unix.SIGKILL) // the end of the attack ends it as well
	}
	return last
}

func threads(a *arena.Arena) error {
	end := make(chan struct{})
	for range 300 {
		go func() { runtime.LockOSThread(); <-end }()
	}
	a.Hold()
	close(end)
	return nil
}

func allocate(mib int) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		m, err := unix.Mmap(-1, 0, mib<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		for i := 0; i < len(m); i += 4096 {
			m[i] = 1
		}
		a.Hold()
		return nil
	}
}

func allocateTogether(a *arena.Arena) error {
	if a.Stage != "" {
		return allocate(64)(a)
	}
	var errs []error
	var waits []func() error
	for range 8 {
		cmd := a.StartAgain("child", nil)
		if err := cmd.Start(); err != nil {
			errs = append(errs, err)
			continue
		}
		waits = append(waits, cmd.Wait)
	}
	for _, wait := range waits {
		errs = append(errs, wait())
	}
	return errors.Join(errs...)
}

func allocateFile(a *arena.Arena) error {
	fd, err := unix.MemfdCreate("fill", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for range 512 {
		if _, err := unix.Write(fd, block); err != nil {
			return err
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Blocks*512 < 512<<20 {
		return fmt.Errorf("it holds %d: %w", st.Blocks*512, err)
	}
	a.Hold()
	return a.Leak([]byte("it holds 512 MiB"))
}

func fill(at func(*arena.Arena) string) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		f, err := os.OpenFile(at(a), os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer os.Remove(at(a))
		block := make([]byte, 1<<20)
		for range 96 {
			if _, err := f.Write(block); err != nil {
				return err
			}
		}
		a.Hold()
		if at(a) == a.In("fill") {
			return keepFilled(a)
		}
		return errors.Join(a.Leak([]byte("all was written")), f.Close())
	}
}

// scatter writes the same in files of four MiB each, which no limit of one file's
// size sees.
func scatter(at func(*arena.Arena) string) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		dir := at(a)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if dir != a.In("fill") { // in the tree it is left, for the host to measure
			defer os.RemoveAll(dir)
		}
		block := make([]byte, 4<<20)
		for i := range 24 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), block, 0o600); err != nil {
				return err
			}
		}
		a.Hold()
		return a.Leak([]byte("all was written"))
	}
}

// keepFilled leaves the file, for the host to measure.
func keepFilled(a *arena.Arena) error { return os.Rename(a.In("fill"), a.In("filled")) }

func reserve(a *arena.Arena) error {
	f, err := os.Create(a.In("filled"))
	if err != nil {
		return err
	}
	if err := unix.Fallocate(int(f.Fd()), 0, 0, 96<<20); err != nil {
		return err
	}
	a.Hold()
	return nil
}

// treeAbove judges by what lies in the tree when a run has ended by itself.
func treeAbove(mib int64) func(*arena.Fixture) (string, error) {
	return func(f *arena.Fixture) (string, error) {
		var size int64
		err := filepath.WalkDir(f.Work, func(path string, e fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil && unix.Lstat(path, &st) == nil {
				size += st.Blocks * 512
			}
			return err
		})
		if size > mib<<20 && f.Ended() == "done" {
			return fmt.Sprintf("the tree has %d MiB more", size>>20), nil
		}
		return "", err
	}
}

func openMany(a *arena.Arena) error {
	var last error
	var fds []int
	for range 300 {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			last = fmt.Errorf("after %d: %w", len(fds), err)
			break
		}
		fds = append(fds, fd)
	}
	a.Hold()
	for _, fd := range fds {
		unix.Close(fd) // the trace needs one
	}
	return last
}
