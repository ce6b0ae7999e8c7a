//go:build !linux

package supervisor

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is the process that a lock file names. Nothing but that file and the lock says
// so here; there are no cells either.
type process struct{ pid int }

func holder(lockFile string) (*process, error) {
	f, err := os.OpenFile(lockFile, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return nil, nil
	}
	named := make([]byte, 16)
	n, _ := f.ReadAt(named, 0)
	text, _, _ := strings.Cut(string(named[:n]), "\n")
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		return nil, errors.New(lockFile + " is locked and names no process")
	}
	return &process{pid}, nil
}

func (p *process) signal(s syscall.Signal) error { return syscall.Kill(p.pid, s) }

func (p *process) close() {}

func (p *process) awaitEnd(ctx context.Context, within time.Duration) bool {
	for deadline := time.Now().Add(within); ctx.Err() == nil && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if errors.Is(p.signal(0), syscall.ESRCH) {
			return true
		}
	}
	return false
}
