package jetstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// giveUp ends a connection whose other side has not confirmed what was sent to it. While something is not confirmed, the
// kernel does not ask.
func giveUp(_, _ string, c syscall.RawConn) (err error) {
	refused := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(gone.Milliseconds()))
	})
	if refused != nil {
		return refused
	}
	return err
}
