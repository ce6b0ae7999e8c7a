package egress

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/policy"
)

// What the reasons of refusals say of a subject that a longer list in the policy
// would have prevented. Another server name, a hidden one, a used up limit or a
// public name with a private address are never answered with a suggestion. Reasons
// repeat what a worker wrote, so these are looked for where only cordon writes.
const (
	unlisted     = "not in network.allowed_domains"
	unlistedPort = "not in network.host_ports"
)

// Suggest are entries of allowed_domains that would let pass what was refused,
// sorted.
func (t Tally) Suggest() []string {
	connected := t.connected()
	entries := map[string]bool{}
	for _, one := range t.Tried {
		if one.Kind == Resolve && connected[one.Name] {
			continue // its connections say at which port
		}
		if e := one.entry(); e != "" && writable(e) {
			entries[e] = true
		}
	}
	return slices.Sorted(maps.Keys(entries))
}

// SuggestPorts are entries of host_ports that would let pass what was refused.
func (t Tally) SuggestPorts() []int {
	ports := map[int]bool{}
	for _, one := range t.Tried {
		port := int(one.Port)
		_, err := policy.Network{HostPorts: []int{port}}.Reach()
		if one.Kind == Connect && one.Verdict == Refused && port > 0 && err == nil && one.Reason == fmt.Sprintf("port %d of this machine is ", port)+unlistedPort {
			ports[port] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}

// writable reports whether a policy may have an entry.
func writable(entry string) bool {
	_, err := policy.Network{AllowedDomains: []string{entry}}.Reach()
	return err == nil
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

// entry is what would have let something pass, or "".
func (t Tried) entry() string {
	if t.Verdict != Refused || t.Kind != Connect && t.Kind != Resolve {
		return ""
	}
	if a, err := netip.ParseAddr(t.Name); err == nil {
		if t.Kind == Connect && strings.HasPrefix(t.Reason, t.subject()+" is ") && strings.HasSuffix(t.Reason, unlisted) {
			return addressEntry(a, t.Port)
		}
		return ""
	}
	if !t.isUnlisted() || !suggestible(t.Name) {
		return ""
	}
	return t.Name + portSuffix(t.Port)
}

// isUnlisted reports whether a name, or one port of it, was not in the list.
func (t Tried) isUnlisted() bool {
	return strings.HasPrefix(t.Reason, t.Name+" is "+unlisted) || strings.HasPrefix(t.Reason, fmt.Sprintf("port %d of %s is ", t.Port, t.Name)+unlisted)
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

// suggestible reports whether a name could be an entry. It comes from the worker,
// and somebody will paste it.
func suggestible(name string) bool {
	clean, err := policy.CleanName(name)
	if err != nil || clean != name || !strings.Contains(name, ".") || name == "metadata.google.internal" {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
	})
}
