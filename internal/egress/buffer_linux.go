package egress

import (
	"net"

	"golang.org/x/sys/unix"
)

const (
	// unsent is how much the kernel takes of what is not on its way yet.
	unsent = 128 << 10
	// unread is how much it keeps of what nobody has read, where there are many
	// connections: what a few may have for a long way would be too much for all.
	unread = 128 << 10
)

// bound keeps the kernel from storing for a connection what one side does not take
// from the other. It would do so outside of all limits of the cell.
func bound(c *net.TCPConn, many bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a kernel that refuses one of these keeps more
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
		if many {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, unread)
		}
	})
}
