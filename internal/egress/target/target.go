// Package target describes what a connection of a cell is for: a name, an address or
// a port of this machine. It knows which addresses stand for names inside a cell, and
// which entry of a policy would let a target pass.
//
// It refuses to suggest an entry that hands out the keys of a machine, and to judge:
// whether a target may be reached is decided in package egress. It resolves and dials
// nothing.
package target

import (
	"cordon/internal/reach"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Target is what a connection is for: a name, an address that was written as such,
// or a port of this machine's loopback.
type Target struct {
	Name string
	Addr netip.Addr
	Port uint16
	Host bool
}

func (t Target) String() string {
	switch {
	case t.Host:
		return fmt.Sprintf("localhost:%d", t.Port)
	case t.Name != "":
		return fmt.Sprintf("%s:%d", t.Name, t.Port)
	}
	return netip.AddrPortFrom(t.Addr, t.Port).String()
}

// Entry is what a policy would have to say for a target that it does not name, or
// "" where that is not to be suggested. The name comes from the worker.
func (t Target) Entry() string {
	var entry string
	switch {
	case t.Host:
		entry = ":" + strconv.Itoa(int(t.Port))
	case t.Addr.IsValid():
		entry = EntryForAddress(t.Addr, t.Port)
	case IsHostName(t.Name) && WhyReserved(t.Name) == "" && t.Name != "metadata.google.internal":
		entry = t.Name + portSuffix(t.Port)
	}
	if _, port := PortOfEntry(entry); port || IsWritable(entry) {
		return entry
	}
	return ""
}

// IsHostName reports whether a name of a query is a clean name already, as those on
// the wire are. One that has to be cleaned first is another name to everybody else.
func IsHostName(name string) bool {
	clean, err := reach.CleanName(name)
	return err == nil && clean == name
}

// WhyReserved says why a name that is not the lease's is none of the internet's.
func WhyReserved(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "it has no dot: only whole names are resolved"
	}
	switch name[dot+1:] {
	case "local":
		return "names below local belong to a local network, which a cell does not have"
	case "onion":
		return "names below onion are not internet names"
	case "invalid":
		return "names below invalid do not exist"
	}
	return ""
}
