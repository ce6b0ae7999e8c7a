package egress

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/policy"
)

// Suggest are entries of allowed_domains that would let pass what was refused,
// sorted. What a file says they are is checked: somebody will paste them. A policy
// has a limit of different ports: those that were tried most often are in it.
func (t Tally) Suggest() []string {
	entries := map[string]bool{}
	// Those of web servers always have their place.
	room := portRoom{ports: map[uint16]bool{80: true, 443: true}, entries: []string{"a.example"}}
	for _, one := range t.Tried {
		a, isAddr := entryAddr(one.Allow)
		if one.Verdict == Refused && writable(one.Allow) && !(isAddr && unspeakable(a)) && room.take(one.Allow) {
			entries[one.Allow] = true
		}
	}
	return slices.Sorted(maps.Keys(entries))
}

// PresetOf is the first preset that has an entry of allowed_domains, with its @, or "".
func PresetOf(entry string) string {
	for _, p := range policy.Presets() {
		if slices.ContainsFunc(p.Domains, func(d policy.PresetDomain) bool { return d.Domain == entry }) {
			return "@" + p.Name
		}
	}
	return ""
}

// portRoom is for the ports of entries, as many as a policy takes.
type portRoom struct {
	ports   map[uint16]bool
	entries []string // which have all of them
	full    bool
}

// take reports whether an entry has its place.
func (r *portRoom) take(entry string) bool {
	reach, err := policy.Network{AllowedDomains: []string{entry}}.Reach()
	if err != nil {
		return false
	}
	ports := reach.Ports()
	if !slices.ContainsFunc(ports, func(p uint16) bool { return !r.ports[p] }) {
		return true
	}
	if r.full {
		return false
	}
	all := append(slices.Clip(r.entries), entry)
	if _, err := (policy.Network{AllowedDomains: all}).Reach(); err != nil {
		r.full = true
		return false
	}
	r.entries = all
	for _, p := range ports {
		r.ports[p] = true
	}
	return true
}

// SuggestPorts are entries of host_ports that would let pass what was refused, no
// more than a policy takes, those that were tried most often.
func (t Tally) SuggestPorts() []int {
	var n policy.Network
	for _, one := range t.Tried {
		port, ok := hostPort(one.Allow)
		if !ok || one.Verdict != Refused || slices.Contains(n.HostPorts, port) {
			continue
		}
		more := policy.Network{HostPorts: append(slices.Clip(n.HostPorts), port)}
		if _, err := more.Reach(); err != nil {
			break
		}
		n = more
	}
	slices.Sort(n.HostPorts)
	return n.HostPorts
}

// writable reports whether a policy may have an entry in allowed_domains.
func writable(entry string) bool {
	_, err := policy.Network{AllowedDomains: []string{entry}}.Reach()
	return err == nil
}

// entryAddr is the address that an entry is for, if it is one's.
func entryAddr(entry string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(entry); err == nil {
		return p.Addr(), true
	}
	a, err := netip.ParseAddr(entry)
	return a, err == nil
}

// isAway reports whether a name that is allowed led to an address that is not.
func (t Tried) isAway() bool {
	_, addr := entryAddr(t.Allow)
	return addr && !t.isAddress() && t.Verdict == Refused
}

// hostPort is the port of an entry that stands for one of host_ports.
func hostPort(entry string) (int, bool) {
	text, ok := strings.CutPrefix(entry, ":")
	port, err := strconv.ParseUint(text, 10, 16)
	if !ok || err != nil {
		return 0, false
	}
	_, err = policy.Network{HostPorts: []int{int(port)}}.Reach()
	return int(port), err == nil
}

// entry is what a policy would have to say for a target that it does not name, or
// "" where that is not to be suggested. The name comes from the worker.
func (t target) entry() string {
	var entry string
	switch {
	case t.host:
		entry = ":" + strconv.Itoa(int(t.port))
	case t.addr.IsValid():
		entry = addressEntry(t.addr, t.port)
	case isHostName(t.name) && reserved(t.name) == "" && t.name != "metadata.google.internal":
		entry = t.name + portSuffix(t.port)
	}
	if _, port := hostPort(entry); port || writable(entry) {
		return entry
	}
	return ""
}

// addressEntry is the entry for an address, or "" where none is to be suggested.
func addressEntry(a netip.Addr, port uint16) string {
	a = a.Unmap()
	switch {
	case unspeakable(a):
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

// unspeakable reports whether an address is never suggested: those of metadata
// services hand out the keys of the machine, others mean nothing outside the cell.
// One of IPv6 that leads to one of IPv4 is judged as that.
func unspeakable(a netip.Addr) bool {
	a = a.Unmap()
	return unspeakableAlone(a) || slices.ContainsFunc(within(a), unspeakableAlone)
}

// within are the addresses of IPv4 that one of IPv6 may be translated or tunnelled to.
func within(a netip.Addr) []netip.Addr {
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

func unspeakableAlone(a netip.Addr) bool {
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
	return inBook(a)
}
