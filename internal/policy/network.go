package policy

import "net/netip"

// Network names what a worker may reach. The zero values of its later keys are
// what a lease says that was sealed before there were these; they must stay absent
// when such a lease is encoded again.
type Network struct {
	AllowedDomains []string      `json:"allowed_domains"`
	HostPorts      []int         `json:"host_ports,omitempty"`
	Via            Via           `json:"via,omitempty"`
	Observe        bool          `json:"observe,omitempty"`
	Limits         NetworkLimits `json:"limits,omitzero"`
}

// NetworkLimits bound what a worker does with its network.
type NetworkLimits struct {
	Connections int   `json:"connections,omitempty"` // at once; 0 is the default
	Queries     int   `json:"queries,omitempty"`     // names resolved in a second; 0 is the default
	Bytes       Bytes `json:"bytes,omitempty"`       // both ways together; 0 is no limit
}

// Via is how programs in the cell find the way out.
type Via string

// The ways.
const (
	Transparent Via = "transparent" // every program, without knowing it
	Proxy       Via = "proxy"       // those that heed the usual variables
)

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

type netRule struct {
	prefix netip.Prefix
	port   uint16 // 0: 80 and 443
}

// Reach compiles the section.
func (n Network) Reach() (Reach, error) { return Reach{}, nil }

// Empty reports whether nothing can be reached.
func (r Reach) Empty() bool { return len(r.names)+len(r.nets)+len(r.host) == 0 }

// KnowsName reports whether a clean name may be reached at any port.
func (r Reach) KnowsName(name string) bool { return false }

// AllowsName reports whether a clean name may be reached at a port.
func (r Reach) AllowsName(name string, port uint16) bool { return false }

// AllowsAddr reports whether an address that was written as such may be reached.
func (r Reach) AllowsAddr(a netip.Addr, port uint16) bool { return false }

// NamesAddr reports whether an address lies in a prefix that was written for a
// network that is not public: a public prefix around it, such as everything, does
// not name it.
func (r Reach) NamesAddr(a netip.Addr) bool { return false }

// HostPort reports whether a port of this machine's loopback may be reached.
func (r Reach) HostPort(port uint16) bool { return false }

// Ports are those at which a cell has to be listened to, but for the host's.
func (r Reach) Ports() []uint16 { return nil }

// HostPorts are the ports of this machine's loopback that may be reached.
func (r Reach) HostPorts() []uint16 { return r.host }

// CleanName is a host name in the one form that names are compared in: lower case,
// ASCII, without the dot at its end.
func CleanName(s string) (string, error) { return s, nil }

// Public reports whether an address is one of the public internet's: not of a
// private, local, shared, documentation, translation or metadata network.
func Public(a netip.Addr) bool { return false }
