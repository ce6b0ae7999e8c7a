// Package dns answers the names that a worker asks for, gives each name an address of
// its own, and finds the real addresses of the names of the lease.
//
// It refuses to forward a query: only names of the lease are looked up, by this
// machine's own resolver. An address that is private, or this machine's own, is not
// handed out for dialling unless the policy names it. Dialling is the business of
// package egress.
package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/rate"
	"cordon/internal/reach"
)

// Server answers the queries of a cell. It forwards none: a name of the lease is asked
// for by this machine's own resolver, once it is known to be one, and every other
// query ends here, whatever is hidden in it.
type Server struct {
	reach    reach.Reach
	book     *Book
	resolver *Resolver
	limit    *rate.Bucket
	pace     *rate.Bucket // beyond which queries are not even read
	refused  func(name, why string)
	Failed   func(name, why string) // is told of names that are allowed and have no address; nil: nobody is

	mu      sync.Mutex
	charged map[string]bool // names that were counted in this second
	since   time.Time       // when it began
}

// NewServer makes the server of a cell. refused is told of each name that is refused.
func NewServer(reach reach.Reach, b *Book, r *Resolver, limit *rate.Bucket, refused func(name, why string)) *Server {
	const often = 10 // a refusal is cheaper than an answer
	return &Server{reach: reach, book: b, resolver: r, limit: limit, refused: refused,
		pace: rate.New(often*int(limit.PerSecond), often*int(limit.Burst))}
}

// Answer is the whole answer to a query. None is nil.
func (d *Server) Answer(ctx context.Context, packet []byte) []byte {
	q, name, msg := d.begin(packet)
	if name == "" {
		return msg
	}
	return d.finish(ctx, q, name)
}

// begin answers what can be answered at once. Otherwise there is a name, one of the
// lease, that has to be looked up to finish.
func (d *Server) begin(packet []byte) (q query, name string, msg []byte) {
	q, ok := readQuery(packet)
	switch {
	case !ok:
		return q, "", nil
	case q.fault != dnsmessage.RCodeSuccess:
		return q, "", q.pack(reply{code: q.fault})
	case !d.charge(q.name()):
		d.refused("", fmt.Sprintf("more than %.0f queries for names in a second (network.limits.queries)", d.limit.PerSecond))
		return q, "", q.pack(reply{code: dnsmessage.RCodeRefused})
	}
	r, name := d.judge(&q)
	if name != "" {
		return q, name, nil
	}
	return q, "", q.pack(r)
}

// finish answers for a name of the lease. That it exists is found out first: a name
// that does not would fill the book, and a program is to learn of its typing error.
func (d *Server) finish(ctx context.Context, q query, name string) []byte {
	exists, err := d.resolver.exists(ctx, name)
	switch {
	case err != nil:
		d.fail(name, err.Error())
		return q.pack(reply{code: dnsmessage.RCodeServerFailure})
	case !exists:
		d.fail(name, "this machine finds no address for it")
		return q.pack(reply{code: dnsmessage.RCodeNameError})
	}
	v4, v6, ok := d.book.Addresses(name, false)
	if !ok {
		why := fmt.Sprintf("more than %d names were resolved", allowedRoom)
		d.refused(name, why)
		return q.pack(reply{code: dnsmessage.RCodeServerFailure, why: why})
	}
	return q.pack(q.addressed(v4, v6, reply{ttl: allowedTTL}))
}

func (q *query) wantsAddress() bool {
	t := q.question.Type
	return t == dnsmessage.TypeA || t == dnsmessage.TypeAAAA || t == dnsmessage.TypeALL
}

func (d *Server) fail(name, why string) {
	if d.Failed != nil {
		d.Failed(name, why)
	}
}

// addressed adds the address of the family that is asked for, if one is. Who asks for
// anything gets one too: there are clients that ask for both families so.
func (q *query) addressed(v4, v6 netip.Addr, r reply) reply {
	switch q.question.Type {
	case dnsmessage.TypeA, dnsmessage.TypeALL:
		r.addr = v4
	case dnsmessage.TypeAAAA:
		r.addr = v6
	}
	return r
}

// charge counts a name against the limit, once in a second, and once for all where it
// has an address already: a program that opens many connections asks for the same
// name as often.
func (d *Server) charge(name string) bool {
	if _, known := d.book.number(name); known {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.since) >= time.Second {
		d.charged, d.since = map[string]bool{}, time.Now()
	}
	if !d.charged[name] && !d.limit.Take() {
		return false
	}
	d.charged[name] = true // no more than the limit lets pass
	return true
}

// queriesAtOnce is how many queries of a cell wait for a lookup. One more is
// dropped: clients ask again.
const queriesAtOnce = 64

// ServeUDP answers queries until the socket is closed or the context has ended.
func (d *Server) ServeUDP(ctx context.Context, c *net.UDPConn) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	tellAsked(c)
	places := make(chan struct{}, queriesAtOnce)
	buf, control := make([]byte, queryRoom), make([]byte, 128)
	for d.pace.Wait(ctx) == nil {
		n, cn, _, from, err := c.ReadMsgUDPAddrPort(buf, control)
		if isOver(ctx, err) {
			return
		}
		if err != nil || n == len(buf) {
			continue // pace holds it back if it goes on like this
		}
		q, name, msg := d.begin(buf[:n])
		source := asked(control[:cn])
		if name == "" {
			send(c, msg, source, from)
			continue
		}
		select {
		case places <- struct{}{}:
			waiting.Go(func() {
				defer func() { <-places }()
				send(c, d.finish(ctx, q, name), source, from)
			})
		default:
		}
	}
}

// isOver reports whether a socket is not to be read any more.
func isOver(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, net.ErrClosed))
}

// send answers from the address that was asked: nobody takes an answer from another.
func send(c *net.UDPConn, msg, source []byte, to netip.AddrPort) {
	if len(msg) > 0 {
		_, _, _ = c.WriteMsgUDPAddrPort(msg, source, to) // who asked may be gone
	}
}

const (
	queriesPerConn = 100
	queryTime      = 10 * time.Second
)

// ServeTCP answers the queries of a connection, one after the other, and closes it.
func (d *Server) ServeTCP(ctx context.Context, c net.Conn) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for range queriesPerConn {
		packet, err := readFrame(c)
		if err != nil || d.pace.Wait(ctx) != nil {
			return
		}
		msg := d.Answer(ctx, packet)
		if msg == nil {
			return
		}
		frame := append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...)
		_ = c.SetWriteDeadline(time.Now().Add(queryTime)) // a closed one says so when it is written to
		if _, err := c.Write(frame); err != nil {
			return
		}
	}
	leave(c)
}

// leave ends a connection without taking back the answers that were not read yet,
// as closing it before queries that still come would.
func leave(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // a closed one says so when it is read
		_, _ = io.CopyN(io.Discard, c, 1<<20)
	}
}

// readFrame reads one query of a connection, all of it in time.
func readFrame(c net.Conn) ([]byte, error) {
	_ = c.SetReadDeadline(time.Now().Add(queryTime)) // a closed one says so when it is read
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(size[:]))
	if n < headerSize || n > queryRoom {
		return nil, fmt.Errorf("a query of %d bytes", n)
	}
	packet := make([]byte, n)
	_, err := io.ReadFull(c, packet)
	return packet, err
}
