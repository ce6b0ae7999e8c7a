package egress

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/egress/dns"
	"cordon/internal/egress/protocol"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
)

// maxProxyHead bounds what a client says to the proxy itself.
const maxProxyHead = 16 << 10

// serveHTTP serves a client whose first byte is none of SOCKS.
func (p *caller) serveHTTP(ctx context.Context, first byte) {
	block, err := readProxyHead(p.conn, first)
	if err != nil {
		p.complain(err)
		return
	}
	call, err := parseCall(block)
	if err != nil {
		p.complain(err)
		return
	}
	if !p.authorised(call.user, call.password) {
		p.part(proxyAnswer("407 Proxy Authentication Required", "this proxy is for another program", "Proxy-Authenticate: Basic realm=\"cordon\"\r\n"))
		return
	}
	t, err := p.aim(call.host, call.port)
	if err == nil && call.stranger != "" {
		err = &target.RefusedError{Why: call.stranger}
	}
	if err != nil {
		p.refused(t, err)
		p.complain(err)
		return
	}
	p.heard()
	if call.forward == nil {
		p.network.connect(ctx, p.conn, t, p.from, p.to, p.ready([]byte("HTTP/1.1 200 Connection established\r\n\r\n")))
		return
	}
	p.forward(ctx, t, call.forward)
}

// ready says words when there is a connection, and why not when there is none.
func (p *caller) ready(words []byte) func(error) error {
	return func(err error) error {
		if err == nil {
			return p.say(words)
		}
		p.complain(err)
		return err
	}
}

// forward relays a request whose head was read by the proxy and written anew.
func (p *caller) forward(ctx context.Context, t target.Target, head []byte) {
	l := &link{network: p.network, target: t, client: p.conn, from: p.from, to: p.to, began: time.Now(), spoken: protocol.HTTP}
	if t.Name == "" {
		l.heard = &protocol.Begun{First: head, Rest: p.conn}
	} else if err := l.listen(protocol.Opening{Protocol: protocol.HTTP, Name: t.Name, Read: head}); err != nil {
		p.refused(t, err)
		p.complain(err)
		return
	}
	l.connect(ctx, p.ready(nil))
}

// misheard is a client that does not speak as it has to.
type misheard struct{ status, why string }

func (e *misheard) Error() string { return e.why }

// complain tells a client why there is no connection for it.
func (p *caller) complain(err error) {
	var wrong *misheard
	switch {
	case errors.As(err, &wrong):
		p.part(proxyAnswer(wrong.status, wrong.why, ""))
	case isRefusal(err):
		p.part(refusalProxy(err.Error()))
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		p.conn.Close()
	case dns.IsTimeout(err):
		p.part(proxyAnswer("504 Gateway Timeout", err.Error(), ""))
	default:
		p.part(proxyAnswer("502 Bad Gateway", err.Error(), ""))
	}
}

// refusalProxy is the answer that a program gets without a proxy, and a field that
// also those see who throw away what a proxy says.
func refusalProxy(why string) []byte {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, record.TidyText(why, record.MaxReasonText))
	return bytes.Replace(protocol.RefusalHTTP(why), []byte("\r\n"), []byte("\r\nX-Cordon-Refused: "+ascii+"\r\n"), 1)
}

// proxyAnswer is a whole answer of the proxy's own.
func proxyAnswer(status, why, fields string) []byte {
	body := "cordon: " + record.TidyText(why, record.MaxReasonText) + "\n"
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		status, len(body), fields, body)
}

// readProxyHead reads a head and no byte more: what follows may be for somebody
// else, who reads it from the socket.
func readProxyHead(c *net.TCPConn, first byte) ([]byte, error) {
	block := []byte{first}
	scan := protocol.HeadScan{Limit: maxProxyHead}
	buf := make([]byte, 2048)
	for {
		n, err := peek(c, buf)
		if dns.IsTimeout(err) {
			return nil, &misheard{"408 Request Timeout", "the request took too long"}
		}
		if err != nil {
			return nil, err
		}
		end, err := scan.Find(append(block, buf[:n]...))
		if err != nil {
			return nil, misheardHead(err, len(block)+n)
		}
		if end > 0 {
			n = end - len(block)
		}
		if _, err := io.ReadFull(c, buf[:n]); err != nil {
			return nil, err
		}
		block = append(block, buf[:n]...)
		if end > 0 {
			return block, nil
		}
	}
}

func misheardHead(err error, length int) error {
	if length > maxProxyHead {
		return &misheard{"431 Request Header Fields Too Large", err.Error()}
	}
	return &misheard{"400 Bad Request", err.Error()}
}

// peek waits for bytes and leaves them where they are.
func peek(c *net.TCPConn, buf []byte) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			if n, _, failed = unix.Recvfrom(int(fd), buf, unix.MSG_PEEK); failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case n <= 0:
		return 0, io.EOF
	}
	return n, nil
}

// call is what a client asks of the proxy.
type call struct {
	host           string
	port           uint16
	user, password string // that it shows
	forward        []byte // the head for the server; nil: a CONNECT
	stranger       string // why the request is not for the host that it names
}

// parseCall reads a head that is for a proxy.
func parseCall(block []byte) (call, error) {
	h, err := protocol.ParseHead(block)
	if err != nil {
		return call{}, &misheard{"400 Bad Request", err.Error()}
	}
	var c call
	c.user, c.password = credentials(h.All("Proxy-Authorization"))
	if h.Method == "CONNECT" {
		var ok bool
		if c.host, c.port, ok = splitHostPort(h.Target, 0); !ok {
			return call{}, &misheard{"400 Bad Request", fmt.Sprintf("CONNECT needs a host and a port, not %.300q", h.Target)}
		}
		return c, nil
	}
	return c, c.parseURL(h)
}

// parseURL reads a request whose target is a whole URL, and writes it as the server
// has to get it.
func (c *call) parseURL(h *protocol.Head) error {
	scheme, rest, ok := strings.Cut(h.Target, "://")
	switch {
	case !ok || h.Target[0] == '/':
		return &misheard{"403 Forbidden", "this is a proxy, and no server: it answers CONNECT and requests with a whole URL"}
	case !strings.EqualFold(scheme, "http"):
		return &misheard{"403 Forbidden", fmt.Sprintf("this proxy takes URLs of http; use CONNECT for %.50q", scheme)}
	}
	authority, path := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if c.host, c.port, ok = splitHostPort(authority, 80); !ok || strings.Contains(path, "#") {
		return &misheard{"400 Bad Request", fmt.Sprintf("%.300q is no URL with a host", h.Target)}
	}
	if path[0] == '?' {
		path = "/" + path
	}
	var err error
	c.stranger, err = c.otherHost(h)
	c.forward = originForm(h, path)
	return err
}

// otherHost says why the Host of a request is another one than that of its URL.
func (c *call) otherHost(h *protocol.Head) (string, error) {
	hosts := h.All("Host")
	if len(hosts) != 1 {
		return "", &misheard{"400 Bad Request", fmt.Sprintf("the request has %d Hosts", len(hosts))}
	}
	host, port, ok := splitHostPort(hosts[0], 80)
	if ok && port == c.port && strings.EqualFold(strings.TrimSuffix(host, "."), strings.TrimSuffix(c.host, ".")) {
		return "", nil
	}
	return fmt.Sprintf("the request is for %.300q by its Host, and for %s by its URL", hosts[0], c.host), nil
}

// originForm is the head of a request for the server itself. It is the only one of
// its connection: the next may be for another host.
func originForm(h *protocol.Head, path string) []byte {
	named := hopFields(h)
	out := fmt.Appendf(nil, "%s %s HTTP/1.%d\r\n", h.Method, path, h.Minor)
	for _, f := range h.Fields {
		if name := strings.ToLower(f.Name); !named[name] && !strings.HasPrefix(name, "proxy-") {
			out = fmt.Appendf(out, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	return append(out, "Connection: close\r\n\r\n"...)
}

// hopFields are those that are for the proxy alone, in lower case. What says where a
// request ends and whom it is for stays, whatever Connection lists.
func hopFields(h *protocol.Head) map[string]bool {
	named := map[string]bool{}
	for _, list := range h.All("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			named[strings.ToLower(strings.Trim(name, " \t"))] = true
		}
	}
	for _, keep := range []string{"host", "content-length", "transfer-encoding", "trailer", "expect"} {
		delete(named, keep)
	}
	for _, drop := range []string{"connection", "keep-alive", "te", "upgrade", "http2-settings"} {
		named[drop] = true
	}
	return named
}

// credentials are those of a client that shows some.
func credentials(shown []string) (user, password string) {
	if len(shown) != 1 {
		return "", ""
	}
	scheme, coded, _ := strings.Cut(shown[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", ""
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	if err != nil {
		return "", ""
	}
	user, password, _ = strings.Cut(string(plain), ":")
	return user, password
}
