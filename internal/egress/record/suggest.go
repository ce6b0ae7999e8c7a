package record

import (
	"maps"
	"slices"

	"cordon/internal/egress/target"
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
		a, isAddr := target.AddressOfEntry(one.Allow)
		if one.Verdict == Refused && target.IsWritable(one.Allow) && !(isAddr && target.IsNeverSuggested(a)) && room.take(one.Allow) {
			entries[one.Allow] = true
		}
	}
	return slices.Sorted(maps.Keys(entries))
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
		port, ok := target.PortOfEntry(one.Allow)
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

// isAway reports whether a name that is allowed led to an address that is not.
func (t Tried) isAway() bool {
	_, addr := target.AddressOfEntry(t.Allow)
	return addr && !t.isAddress() && t.Verdict == Refused
}
