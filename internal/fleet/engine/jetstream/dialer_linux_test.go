package jetstream

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDialer: the kernel gives up a connection whose other side is gone, while something is sent and while nothing is.
func TestDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := dialer().Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name                string
		level, option, want int
	}{
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 10},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 4},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 30000},
	} {
		var got int
		var err error
		if refused := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), one.level, one.option) }); refused != nil || err != nil {
			t.Fatal(refused, err)
		}
		if got != one.want {
			t.Errorf("%s is %d, not %d", one.name, got, one.want)
		}
	}
}
