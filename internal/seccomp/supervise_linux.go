//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// patience is how long, in milliseconds, a descriptor that was closed under
// Supervise goes unnoticed: poll does not wake up for that.
const patience = 1000

// Supervise answers every call that waits on the listener with the errno of its
// row, and then hands it to record. It returns nil when no process is left under
// the filter, or when the listener was closed.
//
// It runs outside of the filter. It reads nothing but the registers the kernel
// copied, no memory and no file of the caller, so that the worker has nothing to
// put into its way. The answer is sent before record is called, so a slow record
// holds up only the next refused call. Record is called as often as a hostile
// worker can make calls: count there, and do not write a line for each.
func Supervise(listener int, record func(Refusal)) error {
	for {
		more, err := await(listener)
		if err != nil {
			return fmt.Errorf("seccomp: wait for a call: %w", err)
		}
		if !more {
			return nil
		}
		n, err := receive(listener)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINTR):
			continue // the caller was killed meanwhile, or this thread got a signal
		case errors.Is(err, unix.EBADF):
			return nil
		case err != nil:
			return fmt.Errorf("seccomp: receive a call: %w", err)
		}
		row := blame(n.call)
		record(Refusal{Call: row.call, Pid: int(n.pid), Reason: row.reason}) // the caller may end as soon as it has its answer
		if err := settle(listener, n.id, row.errno); err != nil {
			return fmt.Errorf("seccomp: answer %s: %w", row.call, err)
		}
	}
}

// await returns true when a call waits, and false when none will any more.
func await(listener int) (bool, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, patience)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return false, err
		}
		switch got := fds[0].Revents; {
		case err != nil:
		case got&unix.POLLIN != 0:
			return true, nil
		case got&(unix.POLLHUP|unix.POLLNVAL) != 0:
			return false, nil
		}
		// Neither: time is up, or POLLERR, with which a signal interrupts this.
	}
}

// blame finds the row of a reported call. A call without a row cannot be
// reported by our program; it is refused like the others.
func blame(c call) rule {
	if r := judge(c); r != nil {
		return *r
	}
	return rule{call: fmt.Sprintf("call %d", c.nr), errno: unix.EPERM, reason: "reported, but not in the table"}
}

// settle answers once. A caller that was killed needs no answer.
func settle(listener int, id uint64, errno unix.Errno) error {
	for {
		err := respond(listener, id, errno)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EBADF):
			return nil
		}
		return err
	}
}
