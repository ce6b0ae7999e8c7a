//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Load puts the program on every thread of the calling process, for good. The
// calling thread must have no_new_privs already: a filter under a set-user-id
// program is a weapon against it, and root, whom the kernel would trust with
// that, is not trusted here. So lock the goroutine to its thread, set
// no_new_privs, and call Load.
//
// With notify it returns the descriptor that Supervise answers on, closed by
// exec, otherwise -1. It must leave the process: whoever holds it in the worker
// can answer its own calls. When nobody holds it any more, waiting calls and all
// later ones are answered with ENOSYS.
//
// SECCOMP_FILTER_FLAG_SPEC_ALLOW is never asked for: where the kernel still
// mitigates speculation for filtered processes, it shall.
func Load(prog []unix.SockFilter, notify bool) (listener int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ready(prog, notify); err != nil {
		return -1, fmt.Errorf("seccomp: %w", err)
	}
	if !notify {
		// Without a listener, the kernel answers with the number of a thread that
		// has gone another way and cannot be brought along.
		thread, err := setFilter(prog, unix.SECCOMP_FILTER_FLAG_TSYNC)
		if err == nil && thread != 0 {
			err = fmt.Errorf("thread %d has a filter of its own", thread)
		}
		if err != nil {
			return -1, fmt.Errorf("seccomp: load the filter: %w", err)
		}
		return -1, nil
	}
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	// A signal would interrupt a waiting call, which then asks, and is recorded,
	// again. Kernels before 5.19 do not know this flag.
	listener, err = setFilter(prog, flags|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) {
		listener, err = setFilter(prog, flags)
	}
	if err != nil {
		return -1, fmt.Errorf("seccomp: load the filter with a listener: %w", err)
	}
	return listener, nil
}

// ready finds what would make the filter useless once it is loaded.
func ready(prog []unix.SockFilter, notify bool) error {
	if len(prog) == 0 || len(prog) > unix.BPF_MAXINSNS {
		return fmt.Errorf("a program of %d instructions", len(prog))
	}
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("ask for no_new_privs: %w", err)
	}
	if set != 1 {
		return errors.New("no_new_privs is not set on this thread")
	}
	if notify {
		return knownSizes()
	}
	return nil
}
