package dns

import (
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Where every address leads to the cell itself, a name server at any of them
// answers, as itself.
func TestEveryAddressAnswers(t *testing.T) {
	tool, err := exec.LookPath("ip")
	if err != nil {
		t.Skip(err)
	}
	listening, asking := make(chan net.PacketConn), make(chan netip.Addr)
	answers := make(chan string)
	go func() {
		defer close(listening)
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Logf("no network of its own: %v", err)
			return
		}
		for _, args := range [][]string{
			{"link", "set", "lo", "up"}, {"addr", "add", "198.18.0.1/32", "dev", "lo"}, {"addr", "add", "fd63:6f72:646f:6e::1/128", "dev", "lo", "nodad"},
			{"route", "add", "local", "0.0.0.0/0", "dev", "lo", "table", "local"}, {"-6", "route", "add", "local", "::/0", "dev", "lo", "table", "local"},
		} {
			if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
				t.Logf("ip %v: %v: %s", args, err, out)
				return
			}
		}
		c, err := net.ListenPacket("udp", "[::]:53")
		if err != nil {
			t.Log(err)
			return
		}
		listening <- c
		for a := range asking {
			m, err := exchange(t, netip.AddrPortFrom(a, 53), asks(typeA, "good.example"))
			if err != nil {
				answers <- err.Error()
				continue
			}
			answers <- summary(m)
		}
	}()
	c, ok := <-listening
	if !ok {
		t.Skip("this machine gives no network of its own")
	}
	n := newNaming(t)
	done := make(chan struct{})
	go func() { defer close(done); n.ServeUDP(t.Context(), c.(*net.UDPConn)) }()
	defer func() { c.Close(); <-done }()
	defer close(asking)
	for _, a := range []string{"198.18.0.1", "127.0.0.1", "127.0.0.53", "8.8.8.8", "10.0.0.1", "169.254.169.254", "fd63:6f72:646f:6e::1", "::1",
		"2001:4860:4860::8888", "fdff::53"} {
		asking <- netip.MustParseAddr(a)
		if got := <-answers; got != "ok 198.18.0.2 30s" {
			t.Errorf("asked at %s: %s", a, got)
		}
	}
}
