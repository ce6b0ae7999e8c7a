package egress

import (
	"fmt"
	"net/netip"

	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
)

// judge says what an address of the cell means, and whether that may be reached. A
// *target.RefusedError says why not; the target is named all the same.
func (n *Network) judge(to netip.AddrPort) (target.Target, error) {
	a, port := to.Addr().Unmap(), to.Port()
	if a.IsLoopback() || a.IsUnspecified() {
		return n.judgeTarget(target.Target{Host: true, Port: port})
	}
	if !n.book.Covers(a) {
		return n.judgeTarget(target.Target{Addr: a, Port: port})
	}
	name, ok := n.book.Name(a)
	if !ok {
		return target.Target{Addr: a, Port: port}, &target.RefusedError{Why: fmt.Sprintf("%s is not an address that was given to a name here", a)}
	}
	return n.judgeTarget(target.Target{Name: name, Port: port})
}

// judgeTarget says whether something may be reached.
func (n *Network) judgeTarget(t target.Target) (target.Target, error) {
	reach := n.order.Reach
	refused := func(format string, args ...any) (target.Target, error) {
		return t, &target.RefusedError{Why: fmt.Sprintf(format, args...)}
	}
	unlisted := func(format string, args ...any) (target.Target, error) {
		return t, &target.RefusedError{Why: fmt.Sprintf(format, args...), Allow: t.Entry()}
	}
	switch {
	case n.overspent():
		return refused("%v", n.usedUp())
	case t.Host && !reach.HostPort(t.Port):
		return unlisted("port %d of this machine is not in network.host_ports", t.Port)
	case t.Host:
		return t, nil
	case t.Name != "" && reach.AllowsName(t.Name, t.Port):
		return t, nil
	case t.Name != "" && reach.KnowsName(t.Name):
		return unlisted("port %d of %s is not in network.allowed_domains", t.Port, t.Name)
	case t.Name != "":
		return unlisted("%s is not in network.allowed_domains", t.Name)
	case !reach.AllowsAddr(t.Addr, t.Port):
		return unlisted("%s is an address that no name was resolved to, and not in network.allowed_domains", netip.AddrPortFrom(t.Addr, t.Port))
	case n.order.Out.Own(t.Addr) && !reach.PinsAddr(t.Addr, t.Port):
		return refused("%s is this machine's own address: use network.host_ports", t.Addr)
	}
	return t, nil
}

func (n *Network) overspent() bool {
	return n.limits.Bytes > 0 && n.spent.Load() > int64(n.limits.Bytes)
}

// usedUp is errSpent with what to change.
func (n *Network) usedUp() error {
	return fmt.Errorf("%w (network.limits.bytes: %s)", record.ErrSpent, n.limits.Bytes)
}
