package main

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// output watches for a reader of cordon's output that goes away, as in `cordon exec -- make | head`.
//
// The signal for that must not end cordon: a command has to be ended and searched for what
// it left. Writes fail instead. A command in a cell writes to a pipe of cordon's, which is
// closed when its output cannot be passed on, so that the command gets the signal as it
// would without cordon. The signal is caught and not ignored, because commands would
// inherit that.
type output chan os.Signal

func watchOutput() output {
	o := make(output, 1)
	signal.Notify(o, syscall.SIGPIPE)
	return o
}

// exitUnread is what a shell calls the end by SIGPIPE.
const exitUnread = 128 + int(syscall.SIGPIPE)

// code is the exit code when everything is done: a shell hears of output that nobody read,
// unless there is something else to hear of.
func (o output) code(code int) int {
	signal.Stop(o) // when it returns, every signal has arrived
	select {
	case <-o: // another pipe may be meant
		if code == exitDone && (unread(os.Stdout) || unread(os.Stderr)) {
			return exitUnread
		}
	default:
	}
	return code
}

// unread reports whether a file is a pipe or a socket that nobody reads any more.
func unread(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// closedOutput reports whether an error is that cordon's own output could not be written.
func closedOutput(err error) bool {
	var at *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &at) && (at.Path == os.Stdout.Name() || at.Path == os.Stderr.Name())
}
