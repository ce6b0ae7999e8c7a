package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/egress/protocol"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
)

// connect dials a target and relays a client's connection to it, checking on the
// way that it stays what it is for. ready is told before the first byte is relayed
// whether there is a connection; nil has nobody to tell.
func (n *Network) connect(ctx context.Context, client net.Conn, t target.Target, from, to netip.AddrPort, ready func(error) error) {
	c, ok := client.(*net.TCPConn)
	if !ok {
		client.Close()
		return
	}
	l := &link{network: n, target: t, client: c, from: from, to: to, began: time.Now()}
	// Nobody is dialled for a client that does not say what it wants, or wants
	// something else; but one that waits for an answer first has to get it.
	if ready == nil && l.named() && !l.hear() {
		return
	}
	l.connect(ctx, ready)
}

// connect dials and relays.
func (l *link) connect(ctx context.Context, ready func(error) error) {
	n := l.network
	server, addr, err := n.dial(ctx, l.target)
	if err != nil {
		l.unreached(err, ready)
		return
	}
	defer server.Close()
	defer n.until(server.Close)()
	bound(l.client, false) // its listener was bounded already
	bound(server, len(n.open) > fewConnections)
	if ready != nil && ready(nil) != nil {
		return
	}
	l.server, l.record = server, record.Record{ID: n.ids.Add(1), Address: addr.String()}
	l.relay()
}

// fewConnections may have as large windows as the kernel finds good.
const fewConnections = 32

// unreached tells and records that there is no connection.
func (l *link) unreached(err error, ready func(error) error) {
	r := refusal(err)
	if !isRefusal(err) {
		r.Verdict = record.Failed
	}
	switch {
	case ready != nil:
		l.network.record(r, l.target, l.from, l.to)
		_ = ready(err) // it is over either way
	case isRefusal(err) && l.heard != nil:
		l.network.record(r, l.target, l.from, l.to)
		tell(l.client, l.spoken, err)
	case isRefusal(err):
		l.network.refuse(l.client, l.target, l.from, l.to, err)
	default:
		l.network.record(r, l.target, l.from, l.to)
		reset(l.client)
	}
}

// link is one connection, both halves of it.
type link struct {
	network        *Network
	target         target.Target
	client, server *net.TCPConn
	from, to       netip.AddrPort
	record         record.Record
	began          time.Time
	heard          io.Reader     // what the client says, once its beginning was checked
	spoken         protocol.Kind // by the client, once that is known
	allowed        atomic.Bool
	telling        atomic.Bool // the client is told why it is refused
	saying         atomic.Pointer[saying]
	sent, received atomic.Int64
	half           sync.Once
	timer          atomic.Pointer[time.Timer]
}

// named reports whether a connection has to say whom it is for before anything else.
func (l *link) named() bool { return l.target.Name != "" && protocol.SpeaksFirst(l.target.Port) }

// hear waits for what the client wants, and reports whether it is what the
// connection is for.
func (l *link) hear() bool {
	_ = l.client.SetReadDeadline(time.Now().Add(hearing)) // a closed one says so when it is read
	o, err := protocol.ReadOpening(l.client)
	_ = l.client.SetReadDeadline(time.Time{})
	l.spoken = o.Protocol
	if err == nil {
		err = l.listen(o)
	}
	if err != nil {
		l.refuse(err)
	}
	return err == nil
}

// listen checks how a connection begins, and keeps how it goes on.
func (l *link) listen(o protocol.Opening) error {
	if err := protocol.CheckName(o, l.target.Name, l.target.Port); err != nil {
		return err
	}
	said := &saying{}
	switch o.Protocol {
	case protocol.TLS:
		h := protocol.NewHellos(o, l.client, l.target.Name, l.target.Port)
		said.verdict, said.answers, l.heard = &h.Verdict, h.Answers, h
	case protocol.HTTP:
		q := protocol.NewRequests(l.client, o.Read, l.target.Name, l.target.Port)
		first := make([]byte, len(o.Read))
		n, err := q.Read(first) // its head was read already
		if err != nil {
			return err
		}
		said.verdict, said.answers, l.heard = &q.Verdict, q.Answers, &protocol.Ahead{First: first[:n], Requests: q}
	default:
		l.heard = &protocol.FirstLine{In: &protocol.Begun{First: o.Read, Rest: l.client}}
	}
	l.saying.Store(said)
	return nil
}

// relay copies both ways until both are done.
func (l *link) relay() {
	defer l.end()
	if l.heard == nil && l.named() && !l.hear() {
		return
	}
	l.allow()
	switch {
	case l.heard != nil:
		l.both(l.heard, l.saying.Load().wrap(l.server))
	case l.target.Name != "": // the server may be the first to speak
		l.both(&late{link: l}, &lateAnswers{link: l})
	default:
		l.both(l.client, l.server)
	}
}

// allow records that a connection was let through, once.
func (l *link) allow() {
	if l.allowed.Swap(true) {
		return
	}
	if l.network.reached.first(l.target.String()) { // finding it takes longer than connecting does
		l.record.Process = l.network.process(l.from, l.to)
	}
	r := l.record
	r.Kind, r.Verdict = record.Connect, record.Allowed
	l.network.record(r, l.target, netip.AddrPort{}, l.to)
}

// end records what became of a connection that was let through.
func (l *link) end() {
	if !l.allowed.Load() {
		return
	}
	r := l.record
	r.Kind, r.Verdict = record.End, record.Allowed
	r.Sent, r.Received, r.Millis = l.sent.Load(), l.received.Load(), time.Since(l.began).Milliseconds()
	l.network.record(r, l.target, netip.AddrPort{}, l.to)
}

// refuse records and tells that a connection is not what it is for.
func (l *link) refuse(err error) {
	var late net.Error
	switch {
	case isRefusal(err):
	case errors.As(err, &late) && late.Timeout():
		err = protocol.Strangef("the client did not say in time what it wants to reach")
	default:
		// It was closed again before it was for anything. Where a proxy has said that
		// there is a connection, there was one.
		if l.server != nil {
			l.allow()
		}
		reset(l.client)
		return
	}
	l.refused(err)
	tell(l.client, l.spoken, err)
}

// both relays in both directions.
func (l *link) both(in, out io.Reader) {
	done := make(chan struct{})
	go func() { defer close(done); l.answer(out) }()
	defer l.forget()
	err := l.pump(l.server, in, &l.sent)
	l.halfDone()
	var strange *protocol.StrangerError
	switch {
	case errors.As(err, &strange):
		l.interrupt(done, strange)
		return
	case err != nil && !errors.Is(err, errGone):
		l.spentOut(err)
		reset(l.server) // the client is gone; where the server is, its last words are still heard
	}
	<-done
}

// answer relays what the server says.
func (l *link) answer(out io.Reader) {
	err := l.pump(l.client, out, &l.received)
	l.halfDone()
	if said := l.saying.Load(); said != nil {
		said.over() // nothing more will come that anybody waits for
	}
	if err == nil || l.telling.Load() {
		return
	}
	l.spentOut(err)
	reset(l.server)
	reset(l.client)
}

// silence is how long one side may say nothing after the other has said everything.
// A program that has gone for good looks like one that listens.
const silence = 2 * time.Minute

// halfDone is told that one direction has ended.
func (l *link) halfDone() {
	l.half.Do(func() { l.watch(-1) })
}

// watch ends a connection in which nothing has happened since a while ago.
func (l *link) watch(before int64) {
	now := l.sent.Load() + l.received.Load()
	if now == before {
		reset(l.server)
		reset(l.client)
		return
	}
	l.timer.Store(time.AfterFunc(l.network.silence, func() { l.watch(now) }))
}

// forget ends the watching for silence.
func (l *link) forget() {
	if t := l.timer.Load(); t != nil {
		t.Stop()
	}
}

// interrupt ends a connection whose client has turned to somebody else. What the
// server has still to say to what was allowed is heard first.
func (l *link) interrupt(done <-chan struct{}, why *protocol.StrangerError) {
	l.telling.Store(true)
	l.refused(why)
	if l.allowed.Load() {
		_ = l.server.CloseWrite()
		_ = l.server.SetReadDeadline(time.Now().Add(parting))
	} else {
		l.server.Close()
	}
	<-done
	tell(l.client, l.spoken, why)
}

// spentOut records that a connection was ended for what it took.
func (l *link) spentOut(err error) {
	if errors.Is(err, record.ErrSpent) {
		l.refused(err)
	}
}

func (l *link) refused(why error) {
	r := refusal(why)
	r.Address = l.record.Address
	l.network.record(r, l.target, l.from, l.to)
}

var errGone = errors.New("the other side is gone")

// room is for what is being copied at this moment. No connection holds one while it
// waits.
var room = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// pump copies from one side to the other until there is no more, and hands on the
// end.
func (l *link) pump(to *net.TCPConn, from io.Reader, count *atomic.Int64) error {
	err := l.pumpAny(to, from, count)
	if !errors.Is(err, io.EOF) {
		return err
	}
	if to != l.client || !l.telling.Load() { // it has still to be told something
		_ = to.CloseWrite() // gone already is fine
	}
	return nil
}

func (l *link) pumpAny(to *net.TCPConn, from io.Reader, count *atomic.Int64) error {
	switch r := from.(type) {
	case *net.TCPConn:
		return l.pumpReady(to, r, count)
	case *protocol.Begun:
		if err := l.write(to, r.First, count); err != nil {
			return err
		}
		return l.pumpReady(to, r.Rest, count)
	}
	return l.pumpPlain(to, from, count)
}

// pumpReady takes a buffer when there is something to read.
func (l *link) pumpReady(to, from *net.TCPConn, count *atomic.Int64) error {
	raw, err := from.SyscallConn()
	if err != nil {
		return err
	}
	for {
		var buf *[64 << 10]byte
		var n int
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			buf = room.Get().(*[64 << 10]byte)
			n, failed = readAgain(int(fd), buf[:])
			if failed == unix.EAGAIN { //nolint:errorlint // it is the kernel's own number
				room.Put(buf)
				buf = nil
				return false
			}
			return true
		})
		if err == nil {
			err = failed
		}
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err == nil {
			err = l.write(to, buf[:n], count)
		}
		if buf != nil {
			room.Put(buf)
		}
		if err != nil {
			return err
		}
	}
}

func readAgain(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR { //nolint:errorlint // it is the kernel's own number
			return n, err
		}
	}
}

// pumpPlain copies what has to be looked at, until it need not be any more. It has
// a small buffer of its own, and takes a large one for as long as that is filled.
func (l *link) pumpPlain(to *net.TCPConn, from io.Reader, count *atomic.Int64) error {
	small := make([]byte, 8<<10)
	for buf := small; ; {
		n, err := from.Read(buf)
		werr := l.write(to, buf[:n], count)
		switch large := len(buf) > len(small); {
		case n == len(small) && !large:
			buf = room.Get().(*[64 << 10]byte)[:]
		case large && (n < len(small) || err != nil || werr != nil):
			room.Put((*[64 << 10]byte)(buf))
			buf = small
		}
		if werr != nil {
			return werr
		}
		if err != nil {
			return err
		}
		if s, ok := from.(protocol.Settler); ok {
			if rest := s.Settled(); rest != nil {
				return l.pumpAny(to, rest, count)
			}
		}
	}
}

// write writes and counts.
func (l *link) write(to *net.TCPConn, b []byte, count *atomic.Int64) error {
	if len(b) == 0 {
		return nil
	}
	l.network.spent.Add(int64(len(b)))
	if l.network.overspent() {
		return l.network.usedUp()
	}
	n, err := to.Write(b)
	count.Add(int64(n))
	if err != nil {
		return errors.Join(errGone, err)
	}
	return nil
}
