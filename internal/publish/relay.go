package publish

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"cordon/internal/egress/protocol"
)

// How long a connection may say nothing. Whoever has not shown the cookie gets less.
const (
	firstHead = 10 * time.Second
	nextHead  = 2 * time.Minute
)

// serve relays the requests of one connection, one after the other. Each is judged by
// itself: pages of several sites can share a connection.
func (p *port) serve(c net.Conn) {
	in := bufio.NewReaderSize(c, 16<<10)
	patience := firstHead
	for {
		_ = c.SetReadDeadline(time.Now().Add(patience)) // a connection that is gone says so when it is read
		block, err := readBlock(in)
		if err != nil && len(block) == 0 {
			return
		}
		var h *protocol.Head
		if err == nil {
			h, err = protocol.ParseHead(block)
		}
		if err != nil {
			finish(c, say("400 Bad Request", "This is not a request of HTTP/1 that cordon relays."))
			return
		}
		_ = c.SetReadDeadline(time.Time{})
		refused, cookies := p.judge(h)
		if refused == nil {
			refused, err = p.relay(c, in, h, cookies)
		}
		if refused != nil {
			finish(c, refused)
			return
		}
		if err != nil || closes(h) {
			return
		}
		patience = nextHead
	}
}

// finish sends an answer of cordon's own and ends the connection, after what is still on
// its way was read: the kernel would drop the answer otherwise.
func finish(c net.Conn, r *reply) {
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write(r.bytes()); err != nil {
		return
	}
	if half, ok := c.(*net.TCPConn); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c, 1<<20) // how that ends does not matter
	}
}

var errEnds = errors.New("the connection ends")

// relay sends one request to the server and its answer back. It returns a reply if nothing
// was sent to the browser yet, and an error if no request can follow.
func (p *port) relay(c net.Conn, in *bufio.Reader, h *protocol.Head, cookies []string) (*reply, error) {
	b, err := bodyOf(h.All("Content-Length"), h.All("Transfer-Encoding"))
	if err != nil || b.chunked && h.Minor == 0 {
		return say("400 Bad Request", "The request states its length in a way that cordon does not relay."), nil
	}
	server, err := p.site.pool.dial(p.number)
	if err != nil {
		return p.unreached(err), nil
	}
	if !p.site.keep(server, func() { stop(server) }) {
		server.Close()
		return nil, errEnds
	}
	defer p.site.drop(server)
	upgrade := upgrades(h)
	if _, err := server.Write(requestFor(h, cookies, upgrade, b)); err != nil {
		return say("502 Bad Gateway", "The server in the worker ended the connection."), nil
	}
	x := &exchange{port: p, browser: c, in: in, server: server, out: bufio.NewReaderSize(server, 16<<10), old: h.Minor == 0, head: h.Method == "HEAD"}
	if upgrade {
		return x.upgrade()
	}
	settle := x.sendBody(b)
	refused, err := x.answer()
	if !settle() && err == nil {
		err = errEnds // the server did not want the whole request
	}
	return refused, err
}

func (p *port) unreached(err error) *reply {
	if errors.Is(err, errBusy) {
		return say("503 Service Unavailable", "Too many requests to this worker are under way.")
	}
	r := say("502 Bad Gateway", fmt.Sprintf("Nothing listens on port %d in this worker yet.", p.number))
	r.fields = []string{"Retry-After: 2", "Refresh: 2"}
	return r
}

// exchange is a request and its answer.
type exchange struct {
	port    *port
	browser net.Conn
	in      *bufio.Reader // of browser
	server  net.Conn
	out     *bufio.Reader // of server
	old     bool          // the browser speaks HTTP/1.0
	head    bool          // the answer has no body
}

// sendBody sends the body of the request while the answer is awaited, and sees whether the
// browser goes away. settle ends that, and reports whether the next request can be read.
func (x *exchange) sendBody(b body) (settle func() bool) {
	var sent error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !b.empty() {
			if sent = send(x.server, b.reader(x.in), b.chunked); sent != nil {
				stop(x.server)
				return
			}
		}
		if _, err := x.in.Peek(1); err != nil && !timedOut(err) {
			stop(x.server)
		}
	}()
	return func() bool {
		_ = x.browser.SetReadDeadline(time.Unix(1, 0)) // wakes it
		<-done
		return sent == nil
	}
}

// stop ends everything that waits for a connection. It is closed by the one who opened it,
// when nobody uses it any more: then its socket goes to another.
func stop(c net.Conn) { _ = c.SetDeadline(time.Unix(1, 0)) }

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// maxInterim is how many answers before the answer are passed on.
const maxInterim = 16

// final reads up to the answer itself, and passes on what comes before it.
func (x *exchange) final() (*answer, error) {
	for range maxInterim {
		a, err := readAnswer(x.out)
		if err != nil || a.code >= 200 || a.code == 101 {
			return a, err
		}
		if x.old {
			continue
		}
		if _, err := x.browser.Write(a.bytesFor(x.port)); err != nil {
			return nil, err
		}
	}
	return nil, errNotHTTP
}

// answer passes the answer on.
func (x *exchange) answer() (*reply, error) {
	a, err := x.final()
	if err == nil && a.code == 101 {
		err = errNotHTTP // nobody asked for that
	}
	var b body
	if err == nil {
		b, err = bodyOf(a.all("Content-Length"), a.all("Transfer-Encoding"))
	}
	if err != nil {
		return notUnderstood(err), nil
	}
	return nil, x.pass(a, b)
}

func notUnderstood(err error) *reply {
	if errors.Is(err, errNotHTTP) || errors.Is(err, errLength) {
		return say("502 Bad Gateway", "The server in the worker did not answer in HTTP/1. If it speaks TLS, let it serve plain HTTP.")
	}
	return say("502 Bad Gateway", "The server in the worker ended the connection without an answer.")
}

// pass sends an answer and its body.
func (x *exchange) pass(a *answer, b body) error {
	none := x.head || a.code == 204 || a.code == 304
	b.rest = !none && !b.stated && !b.chunked
	chunk := (b.chunked || b.rest) && !x.old && !none
	var how []string
	if b.stated && a.code != 204 {
		how = append(how, fmt.Sprintf("Content-Length: %d", b.length))
	}
	if chunk {
		how = append(how, "Transfer-Encoding: chunked")
	}
	if x.old {
		how = append(how, "Connection: close")
	}
	if _, err := x.browser.Write(a.bytesFor(x.port, how...)); err != nil || none {
		return err
	}
	return send(x.browser, b.reader(x.out), chunk)
}

// upgrade relays a WebSocket: after the server agreed, both say what they like.
func (x *exchange) upgrade() (*reply, error) {
	settle := x.sendBody(body{})
	a, err := x.final()
	settle()
	_ = x.browser.SetReadDeadline(time.Time{})
	if err != nil {
		return notUnderstood(err), nil
	}
	if a.code != 101 {
		b, err := bodyOf(a.all("Content-Length"), a.all("Transfer-Encoding"))
		if err != nil {
			return notUnderstood(err), nil
		}
		return nil, x.pass(a, b)
	}
	if _, err := x.browser.Write(a.bytesFor(x.port, "Connection: Upgrade", "Upgrade: websocket")); err != nil {
		return nil, err
	}
	x.both()
	return nil, errEnds
}

// both copies both ways until both have ended.
func (x *exchange) both() {
	var all sync.WaitGroup
	one := func(to net.Conn, from io.Reader) {
		_, err := io.Copy(to, from)
		half, ok := to.(interface{ CloseWrite() error })
		if err != nil || !ok || half.CloseWrite() != nil {
			x.browser.Close()
			stop(x.server)
		}
	}
	all.Go(func() { one(x.server, x.in) })
	all.Go(func() { one(x.browser, x.out) })
	all.Wait()
}
