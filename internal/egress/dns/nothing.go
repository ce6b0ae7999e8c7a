package dns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/rate"
	"cordon/internal/egress/target"
)

// Nothing answers the queries of a cell that reaches nothing: no name exists but
// localhost, and no address has a name. A program that hears no answer waits, asks again
// and calls it a temporary failure.
type Nothing struct {
	mu    sync.Mutex
	names []string
}

// namesRoom is how many names of those that were asked for are kept.
const namesRoom = 16

// The most queries that are answered in a second, and at once.
const (
	nothingRate  = 1000
	nothingBurst = 1000
)

// ServeFile answers queries that come to a socket, until end is called.
func (n *Nothing) ServeFile(f *os.File) (end func(), err error) {
	pc, err := net.FilePacketConn(f)
	if err != nil {
		return nil, err
	}
	c, ok := pc.(*net.UDPConn)
	if !ok {
		return nil, fmt.Errorf("a %T", pc)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); n.Serve(ctx, c) }()
	return func() { cancel(); <-done }, nil
}

// Serve answers queries until the socket is closed or the context has ended.
func (n *Nothing) Serve(ctx context.Context, c *net.UDPConn) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	pace := rate.New(nothingRate, nothingBurst)
	buf := make([]byte, queryRoom)
	for pace.Wait(ctx) == nil {
		size, from, err := c.ReadFromUDPAddrPort(buf)
		if isOver(ctx, err) {
			return
		}
		if err != nil || size == len(buf) {
			continue // pace holds it back if it goes on like this
		}
		if msg := n.answer(buf[:size]); len(msg) > 0 {
			_, _ = c.WriteToUDPAddrPort(msg, from) // who asked may be gone
		}
	}
}

// Asked are the names of machines that were asked for, the first few of them.
func (n *Nothing) Asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.names)
}

func (n *Nothing) answer(packet []byte) []byte {
	q, ok := readQuery(packet)
	if !ok {
		return nil
	}
	if q.fault != dnsmessage.RCodeSuccess {
		return q.pack(reply{code: q.fault})
	}
	name := q.name()
	switch {
	case q.question.Class != dnsmessage.ClassINET:
		return q.pack(reply{code: dnsmessage.RCodeRefused})
	case name == "":
		return q.pack(reply{}) // that the root does not exist would be true of all
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return q.pack(q.addressed(netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback(), reply{ttl: allowedTTL}))
	}
	if q.wantsAddress() && target.IsHostName(name) && !strings.HasSuffix(name, ".arpa") {
		n.keep(name)
	}
	return q.pack(reply{code: dnsmessage.RCodeNameError, why: "cordon: this cell has no network"})
}

func (n *Nothing) keep(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.names) < namesRoom && !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
}
