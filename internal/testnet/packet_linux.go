package testnet

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// tellTarget has a socket tell where a packet was sent to, in a form in which it
// can be handed back as where to send from. To send from an address that is not
// this machine's own takes an option of its own.
func tellTarget(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = errors.Join(
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1),
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1))
	})
	return errors.Join(err, set)
}
