package target

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/policy"
)

// PresetOf is the preset that has an entry of allowed_domains, with its @. It is "" for an
// entry of several presets: nobody knows which of them is meant.
func PresetOf(entry string) string {
	name := ""
	for _, p := range policy.Presets() {
		if !slices.ContainsFunc(p.Domains, func(d policy.PresetDomain) bool { return d.Domain == entry }) {
			continue
		}
		if name != "" {
			return ""
		}
		name = "@" + p.Name
	}
	return name
}

// PresetDomains are the entries of a preset that is named with its @.
func PresetDomains(preset string) (list []string) {
	for _, p := range policy.Presets() {
		if "@"+p.Name == preset {
			for _, d := range p.Domains {
				list = append(list, d.Domain)
			}
		}
	}
	return list
}

// IsWritable reports whether a policy may have an entry in allowed_domains.
func IsWritable(entry string) bool {
	_, err := policy.Network{AllowedDomains: []string{entry}}.Reach()
	return err == nil
}

// AddressOfEntry is the address that an entry is for, if it is one's.
func AddressOfEntry(entry string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(entry); err == nil {
		return p.Addr(), true
	}
	a, err := netip.ParseAddr(entry)
	return a, err == nil
}

// PortOfEntry is the port of an entry that stands for one of host_ports.
func PortOfEntry(entry string) (int, bool) {
	text, ok := strings.CutPrefix(entry, ":")
	port, err := strconv.ParseUint(text, 10, 16)
	if !ok || err != nil {
		return 0, false
	}
	_, err = policy.Network{HostPorts: []int{int(port)}}.Reach()
	return int(port), err == nil
}

// EntryForAddress is the entry for an address, or "" where none is to be suggested.
func EntryForAddress(a netip.Addr, port uint16) string {
	a = a.Unmap()
	switch {
	case IsNeverSuggested(a):
		return ""
	case portSuffix(port) == "":
		return a.String()
	}
	return netip.AddrPortFrom(a, port).String()
}

func portSuffix(port uint16) string {
	if port == 0 || port == 80 || port == 443 {
		return ""
	}
	return ":" + strconv.Itoa(int(port))
}

// IsNeverSuggested reports whether an address is never suggested: those of metadata
// services hand out the keys of the machine, others mean nothing outside the cell.
// One of IPv6 that leads to one of IPv4 is judged as that.
func IsNeverSuggested(a netip.Addr) bool {
	a = a.Unmap()
	return isNeverSuggestedAlone(a) || slices.ContainsFunc(embeddedIPv4(a), isNeverSuggestedAlone)
}

// embeddedIPv4 are the addresses of IPv4 that one of IPv6 may be translated or tunnelled to.
func embeddedIPv4(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	at := func(i ...int) netip.Addr { return netip.AddrFrom4([4]byte{b[i[0]], b[i[1]], b[i[2]], b[i[3]]}) }
	switch {
	case inPrefix(a, "::/96"), inPrefix(a, "::ffff:0:0:0/96"), inPrefix(a, "64:ff9b::/96"):
		return []netip.Addr{at(12, 13, 14, 15)}
	case inPrefix(a, "2002::/16"):
		return []netip.Addr{at(2, 3, 4, 5)}
	case inPrefix(a, "64:ff9b:1::/48"):
		// Where it is depends on what its network has made of the prefix, /48 to /96.
		list := []netip.Addr{at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), at(12, 13, 14, 15)}
		return slices.DeleteFunc(list, func(a netip.Addr) bool { return a.As4()[0] == 0 })
	}
	return nil
}

// inPrefix is asked for few addresses: none is read beforehand.
func inPrefix(a netip.Addr, prefix string) bool { return netip.MustParsePrefix(prefix).Contains(a) }

func isNeverSuggestedAlone(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() {
		return true
	}
	if a.Is4() && a.As4()[0] == 0 {
		return true // this network
	}
	switch a.String() {
	case "255.255.255.255",
		"100.100.100.200",    // Alibaba
		"168.63.129.16",      // Azure
		"192.0.0.192",        // Oracle
		"fd00:42::42",        // Scaleway
		"fd00:c1::a9fe:a9fe", // Oracle
		"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254":
		return true
	}
	return MeansName(a)
}

// RefusedError says why something is refused, in words for people.
type RefusedError struct {
	Why   string
	Allow string // the entry of a policy that would let it pass; "": none that is to be suggested
}

func (e *RefusedError) Error() string { return e.Why }
