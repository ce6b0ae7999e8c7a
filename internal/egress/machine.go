package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Machine is this machine's network: its resolver, its routes, its addresses.
var Machine Outside = &machine{}

type machine struct {
	mu   sync.Mutex
	own  []netip.Addr
	read time.Time // when own was; zero: it could not be
}

// Lookup asks as every program of this machine does, but for one thing: the name is
// whole. The search list of this machine would make another one of it, below a
// domain that the lease does not name.
func (m *machine) Lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".")
}

// Dial connects by TCP. A peer that is gone without a word is noticed after a few
// minutes. No local address is chosen: then a port is taken for one destination
// only, and many connections do not use up this machine's.
func (m *machine) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 8}}
	return d.DialContext(ctx, "tcp", to.String())
}

// ownFor is how long the addresses of the interfaces are taken to stay the same.
const ownFor = 10 * time.Second

// Own reports whether an address is one of this machine's. All are when the
// interfaces cannot be read: then nothing public is reached rather than this machine.
func (m *machine) Own(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	own, ok := m.addresses(net.InterfaceAddrs)
	return !ok || slices.Contains(own, a)
}

func (m *machine) addresses(read func() ([]net.Addr, error)) ([]netip.Addr, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read.IsZero() && time.Since(m.read) < ownFor {
		return m.own, true
	}
	m.own, m.read = nil, time.Time{}
	list, err := read()
	if err != nil {
		return nil, false
	}
	for _, a := range list {
		n, ok := a.(*net.IPNet)
		if !ok {
			return nil, false
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		if !ok {
			return nil, false
		}
		m.own = append(m.own, ip.Unmap())
	}
	m.read = time.Now()
	return m.own, true
}
