package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"cordon/internal/egress/target"
)

const (
	// patience is how long the other side may take to answer.
	patience = 30 * time.Second
	// headStart is what one address has before the next is tried as well, dialsAtOnce
	// how many are, and dialsInAll how many of a name: who owns it may have it lead to
	// any number of them.
	headStart   = 300 * time.Millisecond
	dialsAtOnce = 2
	dialsInAll  = 8
)

// dial connects to a target, and says which address that was. Every address was
// checked after it was resolved, and is not resolved again.
func (n *Network) dial(ctx context.Context, t target.Target) (*net.TCPConn, netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addrs := []netip.Addr{t.Addr}
	switch {
	case t.Host:
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	case t.Name != "":
		var err error
		if addrs, err = n.resolver.Addresses(ctx, t.Name, t.Port); err != nil {
			return nil, netip.Addr{}, err
		}
	}
	return n.dialAny(ctx, alternating(addrs), t.Port)
}

// dialled is what came of one address.
type dialled struct {
	conn *net.TCPConn
	addr netip.Addr
	err  error
}

// dialAny takes the first address that answers. The next is tried when one fails, or
// takes long: a family of addresses that leads nowhere is not to cost more than that.
func (n *Network) dialAny(ctx context.Context, addrs []netip.Addr, port uint16) (*net.TCPConn, netip.Addr, error) {
	addrs = addrs[:min(len(addrs), dialsInAll)]
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan dialled, len(addrs))
	started, ended := 0, 0
	defer func() { cancel(); go closeRest(results, started-ended) }()
	first := errors.New("it has no address")
	for started < len(addrs) || ended < started {
		var soon <-chan time.Time
		if started < len(addrs) && started-ended < dialsAtOnce {
			a := addrs[started]
			started++
			go func() { results <- n.dialOne(ctx, netip.AddrPortFrom(a, port)) }()
			soon = time.After(headStart)
		}
		select {
		case <-soon:
		case r := <-results:
			ended++
			if r.err == nil {
				return r.conn, r.addr, nil
			}
			if ended == 1 {
				first = r.err
			}
		}
	}
	return nil, netip.Addr{}, first
}

// closeRest closes the connections that came too late.
func closeRest(results <-chan dialled, n int) {
	for range n {
		if r := <-results; r.conn != nil {
			r.conn.Close()
		}
	}
}

func (n *Network) dialOne(ctx context.Context, to netip.AddrPort) dialled {
	conn, err := n.order.Out.Dial(ctx, to)
	if err != nil {
		return dialled{err: err}
	}
	c, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close()
		return dialled{err: errors.New("no TCP")}
	}
	return dialled{conn: c, addr: to.Addr()}
}

// alternating puts addresses of the two families in turns, in the order in which
// they are otherwise.
func alternating(addrs []netip.Addr) []netip.Addr {
	var of [2][]netip.Addr
	for _, a := range addrs {
		other := 0
		if a.Is4() != addrs[0].Is4() {
			other = 1
		}
		of[other] = append(of[other], a)
	}
	var list []netip.Addr
	for i := range max(len(of[0]), len(of[1])) {
		for _, family := range of {
			if i < len(family) {
				list = append(list, family[i])
			}
		}
	}
	return list
}
