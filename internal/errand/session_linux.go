package errand

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownSession is that of a command, which ends with the thread that starts it: nothing of an errand outlives a cordon that was killed.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// members are the processes of a session that live.
func members(session int) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ") // state, parent, group, session
		field := strings.Fields(rest)
		if len(field) < 4 || field[0] == "Z" || field[3] != strconv.Itoa(session) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			list = append(list, pid)
		}
	}
	return list
}
