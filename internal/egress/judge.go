package egress

import (
	"fmt"
	"net/netip"
)

// target is what a connection is for: a name, an address that was written as such,
// or a port of this machine's loopback.
type target struct {
	name string
	addr netip.Addr
	port uint16
	host bool
}

func (t target) String() string {
	switch {
	case t.host:
		return fmt.Sprintf("localhost:%d", t.port)
	case t.name != "":
		return fmt.Sprintf("%s:%d", t.name, t.port)
	}
	return netip.AddrPortFrom(t.addr, t.port).String()
}

// judge says what an address of the cell means, and whether that may be reached. A
// *refusedError says why not; the target is named all the same.
func (n *Network) judge(to netip.AddrPort) (target, error) {
	a, port := to.Addr().Unmap(), to.Port()
	if a.IsLoopback() || a.IsUnspecified() {
		return n.judgeTarget(target{host: true, port: port})
	}
	if !n.book.covers(a) {
		return n.judgeTarget(target{addr: a, port: port})
	}
	name, ok := n.book.name(a)
	if !ok {
		return target{addr: a, port: port}, &refusedError{why: fmt.Sprintf("%s is none of the addresses that names were given here", a)}
	}
	return n.judgeTarget(target{name: name, port: port})
}

// judgeTarget says whether something may be reached.
func (n *Network) judgeTarget(t target) (target, error) {
	reach := n.order.Reach
	refused := func(format string, args ...any) (target, error) {
		return t, &refusedError{why: fmt.Sprintf(format, args...)}
	}
	unlisted := func(format string, args ...any) (target, error) {
		return t, &refusedError{fmt.Sprintf(format, args...), t.entry()}
	}
	switch {
	case n.overspent():
		return refused("%v", n.usedUp())
	case t.host && !reach.HostPort(t.port):
		return unlisted("port %d of this machine is not in network.host_ports", t.port)
	case t.host:
		return t, nil
	case t.name != "" && reach.AllowsName(t.name, t.port):
		return t, nil
	case t.name != "" && reach.KnowsName(t.name):
		return unlisted("port %d of %s is not in network.allowed_domains", t.port, t.name)
	case t.name != "":
		return unlisted("%s is not in network.allowed_domains", t.name)
	case !reach.AllowsAddr(t.addr, t.port):
		return unlisted("%s is an address that no name was resolved to, and not in network.allowed_domains", netip.AddrPortFrom(t.addr, t.port))
	case n.order.Out.Own(t.addr) && !reach.PinsAddr(t.addr, t.port):
		return refused("%s is this machine's own address: use network.host_ports", t.addr)
	}
	return t, nil
}

func (n *Network) overspent() bool {
	return n.limits.Bytes > 0 && n.spent.Load() > int64(n.limits.Bytes)
}

// usedUp is errSpent with what to change.
func (n *Network) usedUp() error {
	return fmt.Errorf("%w (network.limits.bytes: %s)", errSpent, n.limits.Bytes)
}
