package egress

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"cordon/internal/egress/target"
	"cordon/internal/reach"
)

// proxyUser is who clients are that show the proxy's token.
const proxyUser = "cordon"

// serveProxy serves programs that are told of a proxy: HTTP and SOCKS5 at one port.
// What comes out of it is judged and checked like any other connection.
func (n *Network) serveProxy(ctx context.Context, l net.Listener, token string) {
	unsaid := func(netip.AddrPort) target.Target { return target.Target{} }
	n.takeEach(l, unsaid, func(c *net.TCPConn) {
		_ = c.SetDeadline(time.Now().Add(hearing)) // a closed one says so when it is read
		p := &caller{network: n, conn: c, token: token}
		p.from, p.to = ends(c)
		p.serve(ctx)
	})
}

// caller is a client of the proxy. Nothing is read from it beyond what is the
// proxy's own: the rest is read by whoever relays it.
type caller struct {
	network  *Network
	conn     *net.TCPConn
	token    string
	from, to netip.AddrPort
}

// serve tells by the first byte what is spoken.
func (p *caller) serve(ctx context.Context) {
	var first [1]byte
	if _, err := io.ReadFull(p.conn, first[:]); err != nil {
		return
	}
	switch first[0] {
	case socks5:
		p.serveSocks(ctx)
	case socks4:
		// It has no place for a reason; this is "rejected or failed".
		p.part([]byte{0, 0x5b, 0, 0, 0, 0, 0, 0})
	default:
		p.serveHTTP(ctx, first[0])
	}
}

// aim is what a client wants to reach, if it may.
func (p *caller) aim(host string, port uint16) (target.Target, error) {
	n := p.network
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return target.Target{Name: host, Port: port}, &target.RefusedError{Why: host + " is a link-local address, and a cell has no link"}
		}
		return n.judge(netip.AddrPortFrom(a, port))
	}
	name, err := reach.CleanName(host)
	if err != nil {
		return target.Target{Name: host, Port: port}, &target.RefusedError{Why: err.Error()}
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return target.Target{Name: name, Port: port}, &target.RefusedError{Why: fmt.Sprintf("%.300q is an address written as a name", host)}
	}
	if name == "localhost" {
		return n.judgeTarget(target.Target{Host: true, Port: port})
	}
	return n.judgeTarget(target.Target{Name: name, Port: port})
}

// refused records why a client is refused before anything was dialled.
func (p *caller) refused(t target.Target, why error) {
	p.network.record(refusal(why), t, p.from, p.to)
}

// heard ends the time in which a client has to say what it wants.
func (p *caller) heard() { _ = p.conn.SetDeadline(time.Time{}) }

// say writes an answer to a client that may not be reading.
func (p *caller) say(words []byte) error {
	_ = p.conn.SetWriteDeadline(time.Now().Add(hearing))
	if _, err := p.conn.Write(words); err != nil {
		return err
	}
	return p.conn.SetWriteDeadline(time.Time{})
}

// part says the last words. What the client still sends is read: closing before
// that would take them back.
func (p *caller) part(words []byte) {
	_ = p.conn.SetDeadline(time.Now().Add(parting))
	if _, err := p.conn.Write(words); err == nil {
		_ = p.conn.CloseWrite()
		_, _ = io.Copy(io.Discard, io.LimitReader(p.conn, 1<<20))
	}
	p.conn.Close()
}

// authorised compares what a client shows, in a time that says nothing of it.
func (p *caller) authorised(user, password string) bool {
	return p.token == "" || user == proxyUser && subtle.ConstantTimeCompare([]byte(password), []byte(p.token)) == 1
}

// splitHostPort reads what a client of a proxy wants to reach: a name or an address,
// and a port, which may be left out where there is a usual one.
func splitHostPort(s string, usual uint16) (host string, port uint16, ok bool) {
	host, rest, bracketed := s, "", strings.HasPrefix(s, "[")
	if bracketed {
		host, rest, ok = strings.Cut(s[1:], "]")
		a, err := netip.ParseAddr(host)
		if !ok || err != nil || !a.Is6() || a.Zone() != "" {
			return "", 0, false
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, rest = s[:i], s[i:]
	}
	if host == "" || strings.ContainsAny(host, "@/?#\\ ") {
		return "", 0, false
	}
	if rest == "" {
		return host, usual, usual != 0
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(rest, ":"), 10, 16)
	return host, uint16(n), err == nil && n > 0 && rest[0] == ':'
}
