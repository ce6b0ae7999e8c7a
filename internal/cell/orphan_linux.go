package cell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of what its children leave behind,
// daemons that changed their session included.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // without it only the process group is ended

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
			_ = syscall.Kill(p, syscall.SIGKILL) // gone already is fine
			var ws syscall.WaitStatus
			if got, _ := syscall.Wait4(p, &ws, 0, nil); got == p {
				ended++
			}
		}
	}
	return ended
}

// strays are children of ours that the command left: in its process group, with
// its mark in their environment, or in another session without anybody's mark.
// Our own git processes are none of these.
func strays(pid int, mark string) []int {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var left []int
	for _, s := range stats {
		p, ppid, pgrp, sid, ok := readStat(s)
		if !ok || ppid != os.Getpid() {
			continue
		}
		theirs := marked(p, Mark+"=")
		if pgrp == pid || mark != "" && marked(p, mark+"\x00") || sid != session && !theirs {
			left = append(left, p)
		}
	}
	return left
}

// marked reports whether the environment of a process holds an entry that
// begins like this.
func marked(pid int, entry string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && strings.Contains("\x00"+string(b), "\x00"+entry)
}

// readStat reads pid, parent, group and session of a process.
func readStat(path string) (pid, ppid, pgrp, sid int, ok bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	text := string(b)
	end := strings.LastIndexByte(text, ')') // the name may hold anything
	f := strings.Fields(text[end+1:])
	if end < 0 || len(f) < 4 {
		return
	}
	pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	ppid, _ = strconv.Atoi(f[1])
	pgrp, _ = strconv.Atoi(f[2])
	sid, _ = strconv.Atoi(f[3])
	return pid, ppid, pgrp, sid, err == nil
}

// EndMarked ends every process whose environment holds the given entry: what a
// killed cordon left running. It returns how many there were.
func EndMarked(entry string) int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	ended := 0
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if !marked(pid, entry+"\x00") {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			ended++
		}
	}
	return ended
}
