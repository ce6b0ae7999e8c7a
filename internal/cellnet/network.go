// Package cellnet gives a cell the network that a policy describes: the sockets, which
// package egress serves, and the files in which programs of the cell look for names. It
// also says in words what a command can reach.
//
// It refuses to judge a connection, and knows no worker.
package cellnet

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cordon/internal/cell"
	"cordon/internal/egress"
	"cordon/internal/egress/record"
	"cordon/internal/egress/watch"
	"cordon/internal/fault"
	"cordon/internal/policy"
	"cordon/internal/reach"
)

// Network is the way out that a policy gives to a cell.
type Network struct {
	reach  reach.Reach
	limits policy.NetworkLimits
	cell   cell.Net
}

// For is the network of a policy's cells. Nil is none: a cell that may reach
// nothing, and whose attempts nobody wants to see, pays for nothing. What a lease from
// before there was a network names may be no host by the rules of today, and is none
// that anybody opened.
func For(p policy.Policy) (*Network, error) {
	n := p.Network
	if n.Older() {
		return nil, nil
	}
	reach, err := n.Reach()
	if err != nil {
		return nil, &fault.RefusedError{Err: fmt.Errorf("network: %w", err)}
	}
	if p.Isolation == policy.None || reach.Empty() && n.Observe != policy.Observed {
		return nil, nil
	}
	ports := slices.Concat([]uint16{80, 443}, reach.Ports()) // refused names are told why at these
	slices.Sort(ports)
	return &Network{
		reach: reach, limits: n.Limits,
		cell: cell.Net{Ports: slices.Compact(ports), Host: reach.HostPorts(), Anywhere: n.Via != policy.Proxy, Spare: reach.Empty()},
	}, nil
}

// Join gives a command the network, with files about names below a directory. The
// keeper is asked for when the cell is proven.
func (n *Network) Join(c *cell.Command, names string, keep func() (*record.Keeper, func(), error)) error {
	c.Cell.Net = &n.cell
	if n.cell.Anywhere {
		binds, err := nameFiles(names, *c.Cell)
		if err != nil {
			return fmt.Errorf("the cell's files about names: %w", err)
		}
		c.Cell.Bind = append(c.Cell.Bind, binds...)
	}
	c.Serve = func(s cell.Sockets) (func(), error) {
		k, done, err := keep()
		if err != nil {
			return nil, fmt.Errorf("the record of the network: %w", err)
		}
		end, err := n.serve(s, k)
		if err != nil {
			done()
			return nil, err
		}
		return func() { end(); done() }, nil
	}
	return nil
}

// serve serves the sockets of a cell until its end.
func (n *Network) serve(s cell.Sockets, k *record.Keeper) (end func(), err error) {
	out := egress.New(egress.Order{
		Reach: n.reach, Limits: n.limits, Out: egress.Machine, Record: k.Record, Process: watch.Owner(s.Pid), Listens: watch.Listener(s.Pid),
	})
	err = out.Serve(egress.Sockets{TCP: s.TCP, Queries: s.Queries, Watch: s.Watch, Proxy: s.Proxy}, s.Token)
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("serve the network of the cell: %w", err)
	}
	return out.Close, nil
}

// Reachable says what a command under a policy can reach in a cell of these layers,
// each time in what is left of a line.
func Reachable(p policy.Policy, layers []cell.Layer) []string { return reachable(p, layers, reachRoom) }

// AllReachable says it with everything that the policy names.
func AllReachable(p policy.Policy, layers []cell.Layer) []string { return reachable(p, layers, 0) }

// missing reports whether a cell of these layers has no network: it was to have none, or
// one that only shows what is tried, which could not be made.
func (n *Network) missing(layers []cell.Layer) bool {
	return n == nil || n.cell.Spare && !slices.Contains(layers, cell.Network) && (n.cell.Anywhere || !slices.Contains(layers, cell.Namespaces))
}

func reachable(p policy.Policy, layers []cell.Layer, room int) []string {
	n, err := For(p)
	namespaces := slices.Contains(layers, cell.Namespaces)
	switch {
	case err != nil:
		return []string{"none: " + fault.OneLine(err)}
	case p.Isolation == policy.None:
		return []string{"not restricted: isolation is none, so it reaches whatever you can reach"}
	case p.Network.Older() && len(p.Network.AllowedDomains) > 0:
		return []string{"the lease was made before cells had a network and opens nothing"}
	case n.missing(layers) && namespaces:
		return []string{"none but its own loopback"}
	case n.missing(layers):
		return nil // what is missing says what is not held
	case !namespaces:
		return []string{"through a proxy; without namespaces, programs that ignore it are not all stopped", listReach(p.Network, room)}
	case !slices.Contains(layers, cell.Network):
		return []string{"through a proxy (programs that ignore proxy variables reach nothing)", listReach(p.Network, room)}
	}
	return []string{listReach(p.Network, room)}
}

// listReach is what a policy names of the network, in so many columns; in 0, all of it.
func listReach(n policy.Network, room int) string {
	if len(n.AllowedDomains)+len(n.HostPorts) == 0 {
		return "none; what it tries to reach is recorded"
	}
	ports := hostPorts(n.HostPorts, min(portsRoom, room))
	switch {
	case len(n.AllowedDomains) == 0:
		return ports
	case ports == "":
		return fitList(n.AllowedDomains, room)
	case room == 0:
		return fitList(n.AllowedDomains, 0) + " and " + ports
	}
	return fitList(n.AllowedDomains, max(room-utf8.RuneCountInString(" and "+ports), 1)) + " and " + ports
}

// reachRoom is what a line of the voice has left of 100 columns, and portsRoom the
// part of it for ports of the host.
const (
	reachRoom = 72
	portsRoom = 32
)

func hostPorts(ports []int, room int) string {
	var words []string
	for _, p := range ports {
		words = append(words, fmt.Sprint(p))
	}
	switch len(ports) {
	case 0:
		return ""
	case 1:
		return "host port " + words[0]
	}
	return "host ports " + fitList(words, max(room-len("host ports "), 0))
}

// fitList is as much of a list as fits into so many columns, and at least its first;
// into 0, all of it.
func fitList(list []string, room int) string {
	text := strings.Join(list, ", ")
	if room == 0 {
		return text
	}
	for n := len(list) - 1; n > 0 && utf8.RuneCountInString(text) > room; n-- {
		text = fmt.Sprintf("%s, %d more", strings.Join(list[:n], ", "), len(list)-n)
	}
	return text
}
