package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a process that was seen to hold a lock. Its handle stays with it: when the
// process ends, the kernel may give its number to another, which the handle never means.
type process struct{ handle int }

// holder finds the process that holds the lock of a file, or returns nil if nobody does.
func holder(lockFile string) (*process, error) {
	f, err := os.OpenFile(lockFile, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for range 100 { // it may be handed on meanwhile
		if !lockedElsewhere(f) {
			return nil, nil
		}
		for _, pid := range candidates(f) {
			if p := prove(pid, f); p != nil {
				return p, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is locked, and the process that holds it cannot be found", lockFile)
}

// lockedElsewhere reports whether another open file holds the lock, and changes nothing.
func lockedElsewhere(f *os.File) bool {
	if !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing does that too
		return false
	}
	return true
}

// candidates are the processes that may hold the lock: those that the kernel lists for the
// number of the file, and the one that the file names.
func candidates(f *os.File) (list []int) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil
	}
	locks, err := os.Open("/proc/locks")
	if err == nil {
		defer locks.Close()
		inode := ":" + strconv.FormatUint(st.Ino, 10)
		for lines := bufio.NewScanner(locks); lines.Scan(); {
			// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
			words := strings.Fields(lines.Text())
			if len(words) < 6 || words[1] != "FLOCK" || !strings.HasSuffix(words[5], inode) {
				continue
			}
			if pid, err := strconv.Atoi(words[4]); err == nil && pid > 0 {
				list = append(list, pid)
			}
		}
	}
	named := make([]byte, 16)
	if n, _ := f.ReadAt(named, 0); n > 0 {
		text, _, _ := strings.Cut(string(named[:n]), "\n")
		if pid, err := strconv.Atoi(text); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	return list
}

// prove opens a handle on a process and returns it if that very process holds the lock. It
// looks by the number, and then asks through the handle whether the process is still there:
// if it is, the number was its own all the time.
func prove(pid int, f *os.File) *process {
	if pid == os.Getpid() {
		return nil
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	p := &process{handle}
	if !holds(pid, f) || p.signal(0) != nil || p.ended() {
		p.close()
		return nil
	}
	return p
}

// holds reports whether a process has an open file that holds the lock of f.
func holds(pid int, f *os.File) bool {
	want, err := f.Stat()
	if err != nil {
		return false
	}
	at := filepath.Join("/proc", strconv.Itoa(pid))
	entries, _ := os.ReadDir(filepath.Join(at, "fd")) // not ours to read: then it is not ours to signal
	for _, e := range entries {
		got, err := os.Stat(filepath.Join(at, "fd", e.Name()))
		if err != nil || !os.SameFile(got, want) {
			continue
		}
		info, err := os.ReadFile(filepath.Join(at, "fdinfo", e.Name()))
		if err == nil && strings.Contains(string(info), "\nlock:") && strings.Contains(string(info), "FLOCK") {
			return true
		}
	}
	return false
}

func (p *process) signal(s syscall.Signal) error { return unix.PidfdSendSignal(p.handle, s, nil, 0) }

func (p *process) close() { unix.Close(p.handle) }

// ended reports whether the process has ended.
func (p *process) ended() bool { return p.poll(0) }

func (p *process) poll(wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(p.handle), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n > 0
}

// awaitEnd waits for the end of the process, for a time.
func (p *process) awaitEnd(ctx context.Context, within time.Duration) (ended bool) {
	const slice = 200 * time.Millisecond // for ctx: the kernel tells of the end at once
	for deadline := time.Now().Add(within); ctx.Err() == nil; {
		left := time.Until(deadline)
		if p.poll(max(0, min(left, slice))) {
			return true
		}
		if left <= 0 {
			return false
		}
	}
	return false
}
