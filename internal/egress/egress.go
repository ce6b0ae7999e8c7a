// Package egress is the only way out of a cell's network: it answers the names
// that a worker asks for, takes the connections that it opens, and dials those
// that its lease names.
//
// The network namespace of a cell is connected to nothing. Every address in it
// leads to sockets that were opened in it before the worker ran and are served
// here, so that a program needs to know nothing of this, and a packet that nobody
// takes is refused by the kernel at once. A name that may be reached gets an
// address of its own that means it and nothing else: a connection is tied to its
// name by where it goes.
//
// The packages below it have one part each: target describes what a connection is
// for, dns answers names, protocol reads what clients say, watch looks at packets that
// nobody takes, record keeps the decisions, and rate bounds how often things happen.
// The judgement, the dialling and the relaying are here.
//
// The package refuses what it does not understand: a name that is not allowed, an
// address that nobody resolved, a server name that is hidden or another one, an
// address of a private network behind a public name. It never forwards a query,
// never dials what it has not checked, and never waits without an end.
package egress

import (
	"context"
	"net"
	"net/netip"
	"os"

	"cordon/internal/egress/record"
	"cordon/internal/policy"
	"cordon/internal/reach"
)

// Order is what a network is made of.
type Order struct {
	Reach  reach.Reach
	Limits policy.NetworkLimits
	Out    Outside
	// Record is told of every decision, one at a time. It must not wait.
	Record func(record.Record)
	// Process names the process that has a socket of the cell, or "".
	Process func(from, to netip.AddrPort) string
	// Listens reports whether a program of the cell listens at a port; nil knows
	// nothing of that.
	Listens func(port uint16) bool
}

// Outside is the world beyond the cell. This machine's is Machine.
type Outside interface {
	// Lookup is the addresses of a name, as this machine resolves it now.
	Lookup(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address that was checked.
	Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Own reports whether an address is one of this machine's.
	Own(a netip.Addr) bool
}

// Sockets are those of the cell, as its first process opened them.
type Sockets struct {
	TCP     []*os.File // listening, at every address or at the loopback
	Queries *os.File   // UDP, for names
	Watch   *os.File   // packets that nothing listens for; nil where that is refused
	Proxy   *os.File   // listening, for programs that are told of a proxy; nil: none
}
