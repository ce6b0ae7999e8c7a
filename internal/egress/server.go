package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"cordon/internal/egress/dns"
	"cordon/internal/egress/rate"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/egress/watch"
	"cordon/internal/policy"
)

// New connections in a second. A cell that opens more waits, and nobody else.
const (
	connectionRate  = 200
	connectionBurst = 1000
)

// Network is the way out of one cell.
type Network struct {
	order    Order
	limits   policy.NetworkLimits
	book     *dns.Book
	resolver *dns.Resolver
	dns      *dns.Server
	rate     *rate.Bucket
	open     chan struct{} // a place for each connection
	silence  time.Duration
	spent    atomic.Int64 // bytes, both ways
	ids      atomic.Int64
	resolved seen          // names whose refusal was recorded
	lookedUp seen          // names of the lease that were asked for outside, likewise
	unfound  seen          // names of the lease that have no address, likewise
	closed   seen          // ports of the cell that nobody listens at, likewise
	opening  chan struct{} // a place for each port that somebody may listen at soon
	reached  seen          // what was reached by a process that was recorded

	ctx    context.Context
	cancel context.CancelFunc
	served sync.WaitGroup
}

// New makes the network of a cell. Nothing is served yet.
func New(o Order) *Network {
	limits := o.Limits
	if limits.Connections <= 0 {
		limits.Connections = policy.DefaultConnections
	}
	if limits.Queries <= 0 {
		limits.Queries = policy.DefaultQueries
	}
	n := &Network{order: o, limits: limits, book: dns.NewBook(), rate: rate.New(connectionRate, connectionBurst), silence: silence}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.open = make(chan struct{}, limits.Connections)
	n.resolver = dns.NewResolver(o.Reach, o.Out)
	n.resolver.Asking = n.askedName
	n.opening = make(chan struct{}, 16)
	n.dns = dns.NewServer(o.Reach, n.book, n.resolver, rate.New(limits.Queries, 2*limits.Queries), n.refusedName)
	n.dns.Failed = n.failedName
	return n
}

// Serve serves the sockets of the cell until Close. Clients of the proxy among
// them have to show the token, where there is one. The files are closed with the
// network, also when there is an error.
func (n *Network) Serve(s Sockets, token string) error {
	if err := n.serve(s, token); err != nil {
		n.Close()
		closeFiles([]*os.File{s.Watch})
		return err
	}
	return nil
}

func (n *Network) serve(s Sockets, token string) error {
	defer closeFiles(append([]*os.File{s.Queries, s.Proxy}, s.TCP...)) // what is served has its own descriptor
	for _, f := range s.TCP {
		l, err := net.FileListener(f)
		if err != nil {
			return fmt.Errorf("a socket of the cell: %w", err)
		}
		n.until(l.Close)
		n.run(func() { n.accept(l) })
	}
	if s.Queries != nil {
		c, err := net.FilePacketConn(s.Queries)
		if err != nil {
			return fmt.Errorf("the socket for names: %w", err)
		}
		udp, ok := c.(*net.UDPConn)
		if !ok {
			c.Close()
			return errors.New("the socket for names is not a UDP socket")
		}
		n.until(udp.Close)
		n.run(func() { n.dns.ServeUDP(n.ctx, udp) })
	}
	if s.Watch != nil {
		n.run(func() {
			watch.Packets(n.ctx, s.Watch, n.unserved)
			go s.Watch.Close() // the kernel takes its time for this kind of socket
		})
	}
	if s.Proxy != nil {
		l, err := net.FileListener(s.Proxy)
		if err != nil {
			return fmt.Errorf("the proxy's socket: %w", err)
		}
		n.until(l.Close)
		n.run(func() { n.serveProxy(n.ctx, l, token) })
	}
	return nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// until closes something with the network. Whoever is done with it earlier calls
// what it returns.
func (n *Network) until(end func() error) (done func() bool) {
	return context.AfterFunc(n.ctx, func() { _ = end() }) // closed already is fine
}

func (n *Network) run(f func()) {
	n.served.Add(1)
	go func() { defer n.served.Done(); f() }()
}

// Close ends every connection and waits until nothing is served any more.
func (n *Network) Close() {
	n.cancel()
	n.served.Wait()
}

// accept takes the connections of a listener, each into a place of its own.
func (n *Network) accept(l net.Listener) {
	aimed := func(to netip.AddrPort) target.Target { t, _ := n.judge(to); return t }
	n.takeEach(l, aimed, func(c *net.TCPConn) {
		from, to := ends(c)
		if to.Port() == queryPort {
			n.dns.ServeTCP(n.ctx, c)
			return
		}
		t, err := n.judge(to)
		if err != nil {
			n.refuse(c, t, from, to, err)
			return
		}
		n.connect(n.ctx, c, t, from, to, nil)
	})
}

const queryPort = 53

// takeEach hands over each connection of a listener, and closes it afterwards. One for
// which there is no place is recorded by what it was aimed at.
func (n *Network) takeEach(l net.Listener, aimed func(netip.AddrPort) target.Target, handle func(*net.TCPConn)) {
	for {
		conn, err := l.Accept()
		if err != nil && (n.ctx.Err() != nil || errors.Is(err, net.ErrClosed)) {
			return
		}
		if err == nil {
			err = n.rate.Wait(n.ctx)
		}
		c, ok := conn.(*net.TCPConn)
		if err != nil || !ok {
			if conn != nil {
				conn.Close()
			}
			pause(n.ctx, 50*time.Millisecond) // without descriptors: some will be free again
			continue
		}
		select {
		case n.open <- struct{}{}:
			n.run(func() {
				defer func() { <-n.open }()
				defer n.until(c.Close)()
				defer c.Close()
				handle(c)
			})
		default:
			from, to := ends(c)
			n.record(record.Record{Kind: record.Connect, Verdict: record.Refused, Reason: fmt.Sprintf("more than %d connections at once (network.limits.connections)",
				n.limits.Connections)}, aimed(to), from, to)
			reset(c)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// ends are where a connection comes from and where the worker wanted it to go.
func ends(c *net.TCPConn) (from, to netip.AddrPort) {
	return plain(c.RemoteAddr()), plain(c.LocalAddr())
}

func plain(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

// reset ends a connection with an error on the other side, and at once.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // gone already is fine
	c.Close()
}

// unserved is told of what was sent where nothing listens: the kernel has refused
// it already.
func (n *Network) unserved(to netip.AddrPort, what watch.Sighting) {
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	if to.Addr().IsLoopback() != (what == watch.Closed) || n.book.Own(to.Addr()) {
		return // between programs of the cell
	}
	t, err := n.judge(to)
	if what == watch.Datagram {
		err = &target.RefusedError{Why: "UDP and QUIC do not leave a cell"}
	}
	if err == nil {
		return
	}
	r := refusal(err)
	switch {
	case what == watch.Datagram:
		r.Kind = record.Packet
	case what == watch.Closed && !n.closed.first(t.String()):
		return // a program that waits for another one tries its port over and over
	case what == watch.Closed && n.order.Listens != nil && len(n.opening) < cap(n.opening):
		n.opening <- struct{}{}
		n.run(func() {
			defer func() { <-n.opening }()
			if !n.opens(t.Port) {
				n.record(r, t, netip.AddrPort{}, to)
			}
		})
		return
	}
	n.record(r, t, netip.AddrPort{}, to)
}

// opens reports whether a program of the cell listens at a port, or will in a
// moment: some are asked before they are there, or in the other family.
func (n *Network) opens(port uint16) bool {
	for range 10 {
		if n.ctx.Err() != nil {
			return false
		}
		if n.order.Listens(port) {
			return true
		}
		pause(n.ctx, time.Second)
	}
	return false
}

// failedName is told of names of the lease that this machine could not resolve. Each
// is told on once.
func (n *Network) failedName(name, why string) {
	if n.unfound.first(name) {
		n.record(record.Record{Kind: record.Resolve, Verdict: record.Failed, Reason: why}, target.Target{Name: name}, netip.AddrPort{}, netip.AddrPort{})
	}
}

// refusedName is told of names that were not resolved. Each is told on once:
// programs ask for one many times. Without a name it is about all of them.
func (n *Network) refusedName(name, why string) {
	if name != "" && !n.resolved.first(name) {
		return
	}
	t := target.Target{Name: name}
	r := record.Record{Kind: record.Resolve, Verdict: record.Refused, Reason: why}
	if !n.order.Reach.KnowsName(name) {
		r.Allow = t.Entry()
	}
	n.record(r, t, netip.AddrPort{}, netip.AddrPort{})
}

// askedName is told of names of the lease that are asked for outside. Whoever runs
// the name servers of a domain reads the names below it: that is a way out as well,
// a slow one. Each is told on once.
func (n *Network) askedName(name string) {
	if n.lookedUp.first(name) {
		n.record(record.Record{Kind: record.Resolve, Verdict: record.Allowed}, target.Target{Name: name}, netip.AddrPort{}, netip.AddrPort{})
	}
}

// record completes a record and hands it over.
func (n *Network) record(r record.Record, t target.Target, from, to netip.AddrPort) {
	r.Time = time.Now()
	r.Name, r.Port = t.Name, t.Port
	switch {
	case t.Host:
		r.Name = "localhost"
	case t.Addr.IsValid():
		r.Address = t.Addr.String()
	}
	if r.Verdict == record.Refused && from.IsValid() {
		r.Process = n.process(from, to)
	}
	if n.order.Record != nil {
		n.order.Record(r)
	}
}

func (n *Network) process(from, to netip.AddrPort) string {
	if n.order.Process == nil {
		return ""
	}
	return n.order.Process(from, to)
}

// seen remembers names, as many as it has room for.
type seen struct {
	mu    sync.Mutex
	names map[string]bool
}

const seenRoom = 4096

// first reports whether a name is new, or cannot be remembered.
func (s *seen) first(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[name] {
		return false
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	if len(s.names) < seenRoom {
		s.names[name] = true
	}
	return true
}
