package reach

import (
	"net/netip"
	"sync"
)

// specialBlocks are the networks whose addresses are not the public internet's:
// those of the IANA special-purpose registries, whether or not these call them
// globally reachable, and the addresses at which clouds tell a machine its secrets
// that lie in none of them. Everything of IPv6 outside 2000::/3 is not public
// either; what has a use there is listed so that a policy can name it.
var specialBlocks = []string{
	"0.0.0.0/8",          // this network
	"10.0.0.0/8",         // private
	"100.64.0.0/10",      // shared by a carrier's customers; a cloud's metadata
	"127.0.0.0/8",        // loopback
	"168.63.129.16/32",   // a cloud's metadata
	"169.254.0.0/16",     // link-local; the metadata of most clouds
	"172.16.0.0/12",      // private
	"192.0.0.0/24",       // protocol assignments; a cloud's metadata
	"192.0.2.0/24",       // documentation
	"192.31.196.0/24",    // AS112
	"192.52.193.0/24",    // AMT
	"192.88.99.0/24",     // 6to4 relays
	"192.168.0.0/16",     // private
	"192.175.48.0/24",    // AS112
	"198.18.0.0/15",      // benchmarking
	"198.51.100.0/24",    // documentation
	"203.0.113.0/24",     // documentation
	"224.0.0.0/4",        // multicast
	"240.0.0.0/4",        // reserved
	"255.255.255.255/32", // broadcast
	"::/96",              // unspecified, loopback, IPv4-compatible
	"64:ff9b::/96",       // translation to IPv4
	"64:ff9b:1::/48",     // translation to IPv4, of a network of one's own
	"100::/64",           // discard
	"100:0:0:1::/64",     // dummy
	"2001::/23",          // protocol assignments: Teredo, benchmarking, ORCHID, AMT, AS112
	"2001:db8::/32",      // documentation
	"2002::/16",          // 6to4
	"2620:4f:8000::/48",  // AS112
	"3ffe::/16",          // the 6bone, given back
	"3fff::/20",          // documentation
	"5f00::/16",          // segment routing
	"fc00::/7",           // unique local; the metadata of some clouds
	"fe80::/10",          // link-local
	"fec0::/10",          // site-local
	"ff00::/8",           // multicast
}

// blocks are the tables of prefixes, read when one is first asked for: a program
// that judges no address must not pay for them.
type blocks struct {
	special, global, loopback []netip.Prefix
	nowhere                   []netip.Prefix // can never be the other end of a connection
	naming                    []netip.Prefix // where a cell finds the names that it resolved
}

var known = sync.OnceValue(func() blocks {
	return blocks{
		special:  prefixes(specialBlocks...),
		global:   prefixes("0.0.0.0/0", "2000::/3"),
		loopback: prefixes("127.0.0.0/8", "::1/128"),
		// An address of 0.0.0.0/8 would be taken for this machine.
		nowhere: prefixes("0.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"),
		naming:  prefixes("198.18.0.0/15", "fd63:6f72:646f:6e::/64"),
	}
})

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, s := range texts {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// Public reports whether an address is one of the public internet's: not of a
// private, local, shared, documentation, translation or metadata network. What is
// not known is not public.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	return within(a, known().global) && !within(a, known().special)
}

// connectable reports whether an address that is not loopback could be the other
// end of a connection. Loopback is reached by host ports alone.
func connectable(a netip.Addr) bool {
	return a.IsValid() && a.Zone() == "" && !within(a, known().loopback) && !within(a, known().nowhere)
}

func within(a netip.Addr, blocks []netip.Prefix) bool {
	for _, b := range blocks {
		if b.Contains(a) {
			return true
		}
	}
	return false
}

// inside reports whether a prefix lies in one of the blocks with all it has.
func inside(p netip.Prefix, blocks []netip.Prefix) bool {
	for _, b := range blocks {
		if b.Bits() <= p.Bits() && b.Contains(p.Addr()) {
			return true
		}
	}
	return false
}
