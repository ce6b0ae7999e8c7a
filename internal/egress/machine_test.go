package egress

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"cordon/internal/testnet"
)

func TestMachineOwn(t *testing.T) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		ip, _ := netip.AddrFromSlice(a.(*net.IPNet).IP)
		if !Machine.Own(ip) || !Machine.Own(ip.Unmap()) || ip.Is4() && !Machine.Own(netip.AddrFrom16(ip.As16())) {
			t.Errorf("%s is not this machine's own", ip)
		}
	}
	for text, want := range map[string]bool{"127.9.9.9": true, "::1": true, "0.0.0.0": true, "::": true, "192.0.2.77": false, "2001:db8::77": false} {
		if Machine.Own(netip.MustParseAddr(text)) != want {
			t.Errorf("own %s is not %v", text, want)
		}
	}
	if !Machine.Own(netip.Addr{}) {
		t.Error("no address is not refused")
	}
}

func TestMachineInterfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		reads, broken := 0, true
		read := func() ([]net.Addr, error) {
			if reads++; broken {
				return nil, errors.New("no netlink")
			}
			return []net.Addr{&net.IPNet{IP: net.IPv4(192, 0, 2, 1)}}, nil
		}
		expect := func(wantOK bool, wantReads int) {
			t.Helper()
			if _, ok := m.addresses(read); ok != wantOK || reads != wantReads {
				t.Errorf("%v after %d reads, want %v after %d", ok, reads, wantOK, wantReads)
			}
		}
		expect(false, 1)
		expect(false, 2) // a failure is not kept
		broken = false
		expect(true, 3)
		expect(true, 3)
		broken = true
		time.Sleep(ownFor + time.Second)
		expect(false, 4) // nor is an old answer
	})
}

func TestMachineDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := l.Addr().(*net.TCPAddr).AddrPort()
	c, err := Machine.Dial(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.(*net.TCPConn); !ok || c.RemoteAddr().String() != to.String() {
		t.Errorf("%T to %s", c, c.RemoteAddr())
	}
	c.Close()
	l.Close()
	to = netip.MustParseAddrPort(testnet.Refusing(t)) // the port of before may be another program's by now
	if c, err := Machine.Dial(t.Context(), to); err == nil || c != nil {
		t.Errorf("nobody listens, and %v, %v", c, err)
	}
}
