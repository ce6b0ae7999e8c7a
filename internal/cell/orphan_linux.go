package cell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/limit"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of what its children leave behind,
// daemons that changed their session included.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // without it only the process group is ended

// awaitEnd returns when a process has ended, and leaves its status to be read: a
// daemon that keeps the output open is ended before anybody waits for that.
func awaitEnd(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// endRest ends what a finished command left behind: its group, and whatever
// became a child of ours that we did not start. It returns how many there were.
func endRest(pid int, mark string) int {
	ended := 0
	for range 100 { // what it kills may have forked meanwhile
		left := strays(pid, mark)
		if len(left) == 0 {
			return ended
		}
		for _, p := range left {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // gone already is fine
			var ws syscall.WaitStatus
			if got, _ := syscall.Wait4(p.pid, &ws, 0, nil); got == p.pid && !p.dead {
				ended++
			}
		}
	}
	return ended
}

// seated are the first processes of the cells that this process runs, each in a session of its own.
// The lock is held while one is started, so that nobody takes it for a stray before it is listed.
var seated = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// startSeated starts the first process of a cell.
func startSeated(cmd *exec.Cmd) error {
	seated.Lock()
	defer seated.Unlock()
	err := cmd.Start()
	if err == nil {
		seated.pids[cmd.Process.Pid] = true
	}
	return err
}

// waitSeated waits for it. Its status is read from cmd.ProcessState.
func waitSeated(cmd *exec.Cmd) {
	_ = cmd.Wait()
	seated.Lock()
	defer seated.Unlock()
	delete(seated.pids, cmd.Process.Pid)
}

// strays are children of ours that the command left: in its process group, with
// its mark in their environment, or in another session without the mark of
// another command that this process runs. Our own git processes and cells are none of
// these.
func strays(pid int, mark string) []process {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	seated.Lock()
	defer seated.Unlock()
	theirs := others(mark)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var left []process
	for _, s := range stats {
		p, ok := readStat(s)
		if !ok || p.parent != os.Getpid() || p.pid == pid || seated.pids[p.pid] {
			continue
		}
		switch {
		case p.group == pid, mark != "" && marked(p.pid, mark):
		case p.session == session, anyMarked(p.pid, theirs):
			continue
		}
		left = append(left, p)
	}
	return left
}

func anyMarked(pid int, marks []string) bool {
	for _, m := range marks {
		if marked(pid, m) {
			return true
		}
	}
	return false
}

// marked reports whether the environment of a process holds all the entries.
func marked(pid int, entries ...string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	env := "\x00" + string(b)
	for _, e := range entries {
		if !strings.Contains(env, "\x00"+e+"\x00") {
			return false
		}
	}
	return len(entries) > 0
}

// process is what the kernel says of one.
type process struct {
	pid, parent, group, session int
	dead                        bool // it only waits for its parent to take note
}

func readStat(path string) (process, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return process{}, false
	}
	text := string(b)
	end := strings.LastIndexByte(text, ')') // the name may hold anything
	f := strings.Fields(text[end+1:])
	if end < 0 || len(f) < 18 {
		return process{}, false
	}
	var p process
	p.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	p.dead = f[0] == "Z" && f[17] == "1" // its first thread may end before the others
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	return p, err == nil
}

// EndMarked ends every process whose environment holds all the given entries:
// what a killed cordon left running. It returns how many there were, when none
// of them is left or when it has tried often enough.
func EndMarked(entries ...string) int {
	ended := map[int]bool{}
	for range 500 { // what it kills may have forked meanwhile, and takes a moment to end
		left := allMarked(entries)
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				ended[pid] = true
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	return len(ended)
}

// allMarked finds processes by their environment. One that has ended has none.
func allMarked(entries []string) []int {
	var pids []int
	for _, pid := range limit.NumberedEntries("/proc") {
		if pid != os.Getpid() && marked(pid, entries...) {
			pids = append(pids, pid)
		}
	}
	return pids
}
