// Package reach says which names, addresses and ports a policy opens. It refuses to
// resolve a name, to connect to anything and to take one name for another: whatever two
// programs could read in two ways is no name here.
package reach

import (
	"cordon/internal/strictyaml"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MaxPorts bounds how many sockets are opened in a cell.
const MaxPorts = 64

// TooManyPorts is the mistake of a policy that names more than MaxPorts.
func TooManyPorts(n int) error {
	return strictyaml.Fault(strconv.Itoa(n)+" different ports are named", "at most "+strconv.Itoa(MaxPorts)+" can be")
}

// Reach is a network section, compiled: what may be reached. The zero Reach is
// nothing.
type Reach struct {
	names []nameRule
	nets  []netRule
	host  []uint16
}

type nameRule struct {
	name  string // clean
	below bool   // names below it, and not itself
	port  uint16 // 0: 80 and 443
}

func (r nameRule) covers(name string) bool {
	if !r.below {
		return name == r.name
	}
	label, found := strings.CutSuffix(name, "."+r.name)
	return found && label != ""
}

type netRule struct {
	prefix netip.Prefix
	port   uint16 // 0: 80 and 443
	local  bool   // the prefix has no public address
}

// covers reports whether an address lies in what was written. Everything around a
// private network is not said of it: who writes 0.0.0.0/0 means the internet.
func (r netRule) covers(a netip.Addr) bool {
	return r.prefix.Contains(a) && (r.local || Public(a))
}

// opens reports whether the port of a rule lets another pass.
func opens(rule, port uint16) bool {
	if rule == 0 {
		return port == 80 || port == 443
	}
	return port == rule
}

// New compiles what a policy opens: entries of allowed_domains, without presets, and
// ports of this machine.
func New(domains []string, hostPorts []int) (Reach, error) {
	var r Reach
	for _, s := range domains {
		d, err := ParseDomain(s)
		if err != nil {
			return Reach{}, err
		}
		if d.prefix.IsValid() {
			r.nets = append(r.nets, netRule{d.prefix, d.port, inside(d.prefix, known().special)})
		} else {
			r.names = append(r.names, nameRule{d.name, d.below, d.port})
		}
	}
	for _, p := range hostPorts {
		port, ok := ParsePort(strconv.Itoa(p))
		if !ok {
			return Reach{}, strictyaml.Fault(strconv.Itoa(p)+" is not a port", "")
		}
		if err := CheckPort(port); err != nil {
			return Reach{}, err
		}
		r.host = append(r.host, port)
	}
	for _, count := range []int{len(r.Ports()), len(r.host)} {
		if count > MaxPorts {
			return Reach{}, TooManyPorts(count)
		}
	}
	return r, nil
}

// Empty reports whether nothing can be reached.
func (r Reach) Empty() bool { return len(r.names)+len(r.nets)+len(r.host) == 0 }

// KnowsName reports whether a clean name may be reached at any port.
func (r Reach) KnowsName(name string) bool {
	return slices.ContainsFunc(r.names, func(n nameRule) bool { return n.covers(name) })
}

// AllowsName reports whether a clean name may be reached at a port.
func (r Reach) AllowsName(name string, port uint16) bool {
	return slices.ContainsFunc(r.names, func(n nameRule) bool { return n.covers(name) && opens(n.port, port) })
}

// AllowsAddr reports whether an address that was written as such may be reached.
func (r Reach) AllowsAddr(a netip.Addr, port uint16) bool {
	a = a.Unmap()
	return connectable(a) && slices.ContainsFunc(r.nets, func(n netRule) bool { return n.covers(a) && opens(n.port, port) })
}

// NamesAddr reports whether an address lies in a prefix that was written for a
// network that is not public, with that port: a public prefix around it, such as
// everything, does not name it.
func (r Reach) NamesAddr(a netip.Addr, port uint16) bool {
	return r.AllowsAddr(a, port) && !Public(a.Unmap())
}

// PinsAddr reports whether an address was written alone, with that port: a network
// that it lies in is not meant for a machine in particular.
func (r Reach) PinsAddr(a netip.Addr, port uint16) bool {
	a = a.Unmap()
	return connectable(a) && slices.ContainsFunc(r.nets, func(n netRule) bool {
		return n.prefix.IsSingleIP() && n.covers(a) && opens(n.port, port)
	})
}

// HostPort reports whether a port of this machine's loopback may be reached.
func (r Reach) HostPort(port uint16) bool { return slices.Contains(r.host, port) }

// Ports are those at which a cell has to be listened to, but for the host's.
func (r Reach) Ports() []uint16 {
	var list []uint16
	add := func(port uint16) {
		if port == 0 {
			list = append(list, 80, 443)
		} else {
			list = append(list, port)
		}
	}
	for _, n := range r.names {
		add(n.port)
	}
	for _, n := range r.nets {
		add(n.port)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// HostPorts are the ports of this machine's loopback that may be reached.
func (r Reach) HostPorts() []uint16 { return slices.Clone(r.host) }
