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
// sorted. What a file says they are is checked: somebody will paste them.
func (t Tally) Suggest() []string {
	connected := t.connected()
	entries := map[string]bool{}
	for _, one := range t.Tried {
		if one.Kind == Resolve && connected[one.Name] {
			continue // its connections say at which port
		}
		if one.Verdict == Refused && writable(one.Allow) {
			entries[one.Allow] = true
		}
	}
	return slices.Sorted(maps.Keys(entries))
}

// SuggestPorts are entries of host_ports that would let pass what was refused.
func (t Tally) SuggestPorts() []int {
	ports := map[int]bool{}
	for _, one := range t.Tried {
		if port, ok := hostPort(one.Allow); ok && one.Verdict == Refused {
			ports[port] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}

// connected are the names to which connections were tried.
func (t Tally) connected() map[string]bool {
	names := map[string]bool{}
	for _, one := range t.Tried {
		if one.Kind == Connect {
			names[one.Name] = true
		}
	}
	return names
}

// writable reports whether a policy may have an entry in allowed_domains.
func writable(entry string) bool {
	_, err := policy.Network{AllowedDomains: []string{entry}}.Reach()
	return err == nil
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

// addressEntry is the entry for an address. One that is not public is written as a
// network: only such an entry names it.
func addressEntry(a netip.Addr, port uint16) string {
	a = a.Unmap()
	if unspeakable(a) {
		return ""
	}
	suffix := portSuffix(port)
	switch {
	case !policy.Public(a) && a.Is6() && suffix != "":
		return "[" + netip.PrefixFrom(a, a.BitLen()).String() + "]" + suffix
	case !policy.Public(a):
		return netip.PrefixFrom(a, a.BitLen()).String() + suffix
	case suffix != "":
		return netip.AddrPortFrom(a, port).String()
	}
	return a.String()
}

func portSuffix(port uint16) string {
	if port == 0 || port == 80 || port == 443 {
		return ""
	}
	return ":" + strconv.Itoa(int(port))
}

// unspeakable reports whether an address is never suggested: those of metadata
// services hand out the keys of the machine, others mean nothing outside the cell.
func unspeakable(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() {
		return true
	}
	switch a.String() {
	case "255.255.255.255",
		"100.100.100.200", // Alibaba
		"168.63.129.16",   // Azure
		"192.0.0.192",     // Oracle
		"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254":
		return true
	}
	return inBook(a)
}
