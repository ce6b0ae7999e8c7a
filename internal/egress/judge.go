package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
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
		return target{addr: a, port: port}, &refusedError{fmt.Sprintf("%s is none of the addresses that names were given here", a)}
	}
	return n.judgeTarget(target{name: name, port: port})
}

// judgeTarget says whether something may be reached.
func (n *Network) judgeTarget(t target) (target, error) {
	reach := n.order.Reach
	refused := func(format string, args ...any) (target, error) {
		return t, &refusedError{fmt.Sprintf(format, args...)}
	}
	switch {
	case n.overspent():
		return refused("the bytes of this run are used up (network.limits.bytes: %s)", n.limits.Bytes)
	case t.host && !reach.HostPort(t.port):
		return refused("port %d of this machine is not in network.host_ports", t.port)
	case t.host:
		return t, nil
	case t.name != "" && reach.AllowsName(t.name, t.port):
		return t, nil
	case t.name != "" && reach.KnowsName(t.name):
		return refused("port %d of %s is not in network.allowed_domains", t.port, t.name)
	case t.name != "":
		return refused("%s is not in network.allowed_domains", t.name)
	case !reach.AllowsAddr(t.addr, t.port):
		return refused("%s is an address that no name was resolved to, and not in network.allowed_domains", netip.AddrPortFrom(t.addr, t.port))
	case n.order.Out.Own(t.addr) && !reach.PinsAddr(t.addr, t.port):
		return refused("%s is this machine's own address: use network.host_ports", t.addr)
	}
	return t, nil
}

func (n *Network) overspent() bool {
	return n.limits.Bytes > 0 && n.spent.Load() > int64(n.limits.Bytes)
}

// patience is how long the other side may take to answer.
const patience = 30 * time.Second

// dial connects to a target, and says which address that was. Every address was
// checked after it was resolved, and is not resolved again.
func (n *Network) dial(ctx context.Context, t target) (*net.TCPConn, netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addrs := []netip.Addr{t.addr}
	switch {
	case t.host:
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	case t.name != "":
		var err error
		if addrs, err = n.resolver.addresses(ctx, t.name, t.port); err != nil {
			return nil, netip.Addr{}, err
		}
	}
	return n.dialOne(ctx, addrs, t.port)
}

// attempt is how long one of several addresses may take.
const attempt = 5 * time.Second

func (n *Network) dialOne(ctx context.Context, addrs []netip.Addr, port uint16) (*net.TCPConn, netip.Addr, error) {
	err := errors.New("it has no address")
	for i, a := range addrs {
		dialling, cancel := ctx, context.CancelFunc(func() {})
		if i < len(addrs)-1 {
			dialling, cancel = context.WithTimeout(ctx, attempt)
		}
		var conn net.Conn
		conn, err = n.order.Out.Dial(dialling, netip.AddrPortFrom(a, port))
		cancel()
		if c, ok := conn.(*net.TCPConn); err == nil && ok {
			return c, a, nil
		}
		if err == nil {
			conn.Close()
			err = errors.New("no TCP")
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, netip.Addr{}, err
}
