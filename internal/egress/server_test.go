package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/egress/dns"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/egress/watch"
	"cordon/internal/policy"
	"cordon/internal/testwait"
)

// world is what lies beyond a test's cell: every name has the same public address,
// and whoever dials it gets to a server of the test.
type world struct {
	addrs  map[string][]netip.Addr
	server string
	own    netip.Addr
	dialed sync.Map
}

var somewhere = netip.MustParseAddr("93.184.216.34")

func (w *world) Lookup(_ context.Context, name string) ([]netip.Addr, error) {
	if a, ok := w.addrs[name]; ok {
		return a, nil
	}
	return []netip.Addr{somewhere}, nil
}

func (w *world) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.dialed.Store(to, true)
	var d net.Dialer
	return d.DialContext(ctx, "tcp", w.server)
}

func (w *world) Own(a netip.Addr) bool { return a == w.own }

// cellOf is a network with a lease, and what it recorded.
type cellOf struct {
	*Network
	world *world
	mu    sync.Mutex
	kept  []record.Record
}

func newCell(t *testing.T, n policy.Network, server string) *cellOf {
	t.Helper()
	reach, err := n.Reach()
	if err != nil {
		t.Fatal(err)
	}
	c := &cellOf{world: &world{server: server}}
	c.Network = New(Order{Reach: reach, Limits: n.Limits, Out: c.world, Record: func(r record.Record) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept = append(c.kept, r)
	}})
	t.Cleanup(c.Close)
	return c
}

// refusals are the reasons that were recorded.
func (c *cellOf) refusals() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, r := range c.kept {
		if r.Verdict == record.Refused {
			list = append(list, r.Reason)
		}
	}
	return strings.Join(list, "\n")
}

// dial is a connection of the worker's to a name and a port.
func (c *cellOf) dialName(t *testing.T, name string, port uint16) *net.TCPConn {
	t.Helper()
	v4, _, ok := c.book.Addresses(name, false)
	if !ok {
		t.Fatal("no address for " + name)
	}
	return c.dialAddr(t, netip.AddrPortFrom(v4, port))
}

func (c *cellOf) dialAddr(t *testing.T, to netip.AddrPort) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	worker, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { worker.Close() })
	inside, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	client := inside.(*net.TCPConn)
	c.run(func() {
		defer c.until(client.Close)()
		defer client.Close()
		from, _ := ends(client)
		target, err := c.judge(to)
		if err != nil {
			c.refuse(client, target, from, to, err)
			return
		}
		c.connect(c.ctx, client, target, from, to, nil)
	})
	_ = worker.SetDeadline(time.Now().Add(testwait.Bound))
	return worker.(*net.TCPConn)
}

// said is everything that comes until the end.
func said(t *testing.T, c net.Conn) string {
	t.Helper()
	b, _ := io.ReadAll(c)
	return string(b)
}

func plainServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "host=%s path=%s", r.Host, r.URL.Path) }))
	t.Cleanup(s.Close)
	return s
}

var named = policy.Network{AllowedDomains: []string{"good.example", "good.example:22", "good.example:8080"}}

// What a worker sends to the address of a name is for that name.
func TestConnectionsStayWhatTheyAreFor(t *testing.T) {
	web := plainServer(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "secret") }))
	defer secure.Close()
	request := func(host string) string { return "GET /a HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n" }
	for _, c := range []struct {
		name   string
		port   uint16
		send   string
		answer string // a part of it
		reason string // that is recorded; "": none
	}{
		{"the right host", 80, request("good.example"), "host=good.example", ""},
		{"upper case", 80, request("GOOD.Example."), "host=GOOD", ""},
		{"another host", 80, request("bad.example"), "403 Forbidden", "bad.example"},
		{"no protocol", 80, "SSH-2.0-x\r\n", "", "neither TLS nor HTTP"},
		{"another port that is leased", 8080, request("good.example"), "host=good.example", ""},
		{"another host there", 8080, request("bad.example"), "403 Forbidden", "bad.example"},
		{"a port that is not leased", 81, request("good.example"), "", "port 81"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := newCell(t, named, web.Listener.Addr().String())
			conn := cell.dialName(t, "good.example", c.port)
			fmt.Fprint(conn, c.send)
			if got := said(t, conn); !strings.Contains(got, c.answer) || c.answer == "" && got != "" {
				t.Errorf("answered %q, want %q", got, c.answer)
			}
			if got := cell.refusals(); !strings.Contains(got, c.reason) || c.reason == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, c.reason)
			}
		})
	}
	for _, c := range []struct{ server, want, reason string }{
		{"good.example", "secret", ""},
		{"bad.example", "access denied", "the TLS hello is for bad.example"},
		{"", "access denied", "names no server"},
	} {
		t.Run("TLS for "+c.server, func(t *testing.T) {
			cell := newCell(t, named, secure.Listener.Addr().String())
			conn := tls.Client(cell.dialName(t, "good.example", 443), &tls.Config{ServerName: c.server, InsecureSkipVerify: true})
			fmt.Fprint(conn, request("good.example"))
			b, err := io.ReadAll(conn)
			if got := string(b) + fmt.Sprint(err); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := cell.refusals(); !strings.Contains(got, c.reason) || c.reason == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, c.reason)
			}
		})
	}
}

// The second request of a connection is for the same host as the first, or is
// refused, after the first was answered.
func TestSecondRequest(t *testing.T) {
	cell := newCell(t, named, plainServer(t).Listener.Addr().String())
	conn := cell.dialName(t, "good.example", 80)
	in := bufio.NewReader(conn)
	ask := func(host string) (*http.Response, string) {
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		return r, string(b)
	}
	for range 3 {
		if r, _ := ask("good.example"); r.StatusCode != 200 {
			t.Fatal(r.Status)
		}
	}
	if r, text := ask("bad.example"); r.StatusCode != 403 || !strings.Contains(text, "bad.example") {
		t.Error(r.Status, text)
	}
}

// A server that speaks first is heard, and the end of one side reaches the other.
func TestServerFirst(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fmt.Fprint(c, "SSH-2.0-server\r\n")
				b, _ := io.ReadAll(c) // until the client has said everything
				fmt.Fprintf(c, "heard %d", len(b))
			}()
		}
	}()
	cell := newCell(t, named, l.Addr().String())
	conn := cell.dialName(t, "good.example", 22)
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || line != "SSH-2.0-server\r\n" {
		t.Fatal(line, err)
	}
	n := 1 << 20
	if _, err := conn.Write([]byte(strings.Repeat("x", n))); err != nil {
		t.Fatal(err)
	}
	_ = conn.CloseWrite()
	if rest, err := io.ReadAll(in); err != nil || string(rest) != fmt.Sprintf("heard %d", n) {
		t.Error(string(rest), err)
	}
}

// Nothing but names, what is written as an address, and host ports.
func TestJudge(t *testing.T) {
	cell := newCell(t, policy.Network{
		AllowedDomains: []string{"good.example", "8.8.4.0/24", "10.1.0.0/16:5432", "0.0.0.0/0:81"}, HostPorts: []int{11434},
	}, "")
	good, good6, _ := cell.book.Addresses("good.example", false)
	bad, _, _ := cell.book.Addresses("bad.example", true)
	for _, c := range []struct {
		to string
		ok bool
	}{
		{netip.AddrPortFrom(good, 443).String(), true},
		{netip.AddrPortFrom(good6, 80).String(), true},
		{netip.AddrPortFrom(good, 22).String(), false},
		{netip.AddrPortFrom(bad, 443).String(), false},
		{"198.19.255.254:443", false},
		{"8.8.4.4:443", true}, {"8.8.8.8:443", false}, {"[::ffff:8.8.4.4]:443", true},
		{"10.1.2.3:5432", true}, {"10.1.2.3:443", false}, {"10.2.0.1:5432", false},
		{"8.8.8.8:81", true}, {"10.1.2.3:81", false}, {"10.2.2.3:81", false}, {"169.254.169.254:81", false}, {"[fd00:ec2::254]:81", false},
		{"127.0.0.1:11434", true}, {"[::1]:11434", true}, {"127.9.9.9:11434", true}, {"0.0.0.0:11434", true}, {"127.0.0.1:5432", false}, {"127.0.0.1:81", false},
	} {
		_, err := cell.judge(netip.MustParseAddrPort(c.to))
		var refused *target.RefusedError
		if (err == nil) != c.ok || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// The address that is dialled is one that was resolved and checked for this
// connection: a name that moves to a private network is not followed.
func TestRebinding(t *testing.T) {
	cell := newCell(t, named, plainServer(t).Listener.Addr().String())
	for _, private := range []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.5", "100.64.0.1", "0.0.0.0"} {
		cell.world.addrs = map[string][]netip.Addr{"good.example": {netip.MustParseAddr(private)}}
		cell.resolver = dns.NewResolver(cell.order.Reach, cell.world) // the cache has run out
		conn := cell.dialName(t, "good.example", 80)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n")
		if got := said(t, conn); !strings.Contains(got, "403") || !strings.Contains(got, "resolves to") {
			t.Errorf("%s: %q", private, got)
		}
	}
	cell.world.dialed.Range(func(to, _ any) bool { t.Errorf("%s was dialled", to); return true })
}

// echoing is a server that says what it hears.
func echoing(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	return l
}

// A run has a number of bytes, and then no more.
func TestByteLimit(t *testing.T) {
	l := echoing(t)
	limited := named
	limited.Limits.Bytes = 1 << 20
	cell := newCell(t, limited, l.Addr().String())
	conn := cell.dialName(t, "good.example", 22)
	go func() { _, _ = conn.Write(make([]byte, 8<<20)) }()
	n, _ := io.Copy(io.Discard, conn)
	if n > 1<<20 {
		t.Errorf("%d bytes came back", n)
	}
	if again := said(t, cell.dialName(t, "good.example", 22)); again != "" || !strings.Contains(cell.refusals(), "used up") {
		t.Errorf("%q, %s", again, cell.refusals())
	}
}

// listening is a real listener of a network, whose connections are for this
// machine's loopback.
func listening(t *testing.T, n policy.Network, server string) (*cellOf, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.HostPorts = []int{l.Addr().(*net.TCPAddr).Port}
	cell := newCell(t, n, server)
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := cell.Serve(Sockets{TCP: []*os.File{f}}, ""); err != nil {
		t.Fatal(err)
	}
	return cell, l.Addr().String()
}

// More connections than the lease has are refused at once, and there is room again
// when some have ended.
func TestConnectionLimit(t *testing.T) {
	echo := echoing(t)
	cell, at := listening(t, policy.Network{Limits: policy.NetworkLimits{Connections: 8}}, echo.Addr().String())
	works := func() (net.Conn, bool) {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return nil, false
		}
		_ = c.SetDeadline(time.Now().Add(testwait.Bound))
		_, werr := c.Write([]byte("x"))
		_, rerr := io.ReadFull(c, make([]byte, 1))
		return c, werr == nil && rerr == nil
	}
	var open []net.Conn
	for range 8 {
		c, ok := works()
		if !ok {
			t.Fatal("one that the lease has does not work")
		}
		open = append(open, c)
	}
	for range 20 {
		if c, ok := works(); ok {
			t.Fatal("one too many works")
		} else if c != nil {
			c.Close()
		}
	}
	if !strings.Contains(cell.refusals(), "more than 8 connections") {
		t.Error(cell.refusals())
	}
	for _, c := range open {
		c.Close()
	}
	testwait.Until(t, "there is room again", func() bool {
		c, ok := works()
		if c != nil {
			c.Close()
		}
		return ok
	}, cell.refusals)
}

// Close ends what is open, on both sides.
func TestClose(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cell, at := listening(t, policy.Network{}, silent.Addr().String())
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cell.Close()
	for _, side := range []net.Conn{c, other} {
		_ = side.SetDeadline(time.Now().Add(testwait.Bound))
		var timeout net.Error
		if _, err := side.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
			t.Error("still open", err)
		}
	}
	if c, err := net.Dial("tcp", at); err == nil {
		c.Close()
		t.Error("still listening")
	}
}

// A network does not mean this machine in it, which has ports of its own to be
// named; its address does.
func TestOwnAddress(t *testing.T) {
	for _, c := range []struct {
		allowed string
		ok      bool
	}{{"10.0.0.0/8", false}, {"10.0.0.5", true}, {"10.0.0.5:5432", false}, {"10.0.0.6", false}} {
		cell := newCell(t, policy.Network{AllowedDomains: []string{"good.example", c.allowed}}, plainServer(t).Listener.Addr().String())
		cell.world.own = netip.MustParseAddr("10.0.0.5")
		cell.world.addrs = map[string][]netip.Addr{"good.example": {cell.world.own}}
		if _, err := cell.judge(netip.AddrPortFrom(cell.world.own, 80)); (err == nil) != c.ok {
			t.Errorf("%s, by address: %v", c.allowed, err)
		}
		conn := cell.dialName(t, "good.example", 80)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
		if got := said(t, conn); strings.Contains(got, "host=good.example") != c.ok {
			t.Errorf("%s, by name: %q", c.allowed, got)
		}
	}
}

// A client that is gone without having waited for an answer does not hold its place
// for ever.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cell := newCell(t, named, l.Addr().String())
	cell.silence = 4 * time.Second // this process may have to wait for its turn
	conn := cell.dialName(t, "good.example", 22)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_ = server.SetDeadline(time.Now().Add(testwait.Bound))
	fmt.Fprint(conn, "bye\n")
	_ = conn.CloseWrite()
	const words = 30
	now := time.NewTicker(cell.silence / 20)
	defer now.Stop()
	for range words { // who speaks is heard, for longer than nobody may be silent
		select {
		case <-now.C:
			fmt.Fprint(server, ".")
		case <-t.Context().Done():
		}
	}
	if _, err := io.ReadFull(conn, make([]byte, words)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(server); string(b) != "bye\n" {
		t.Fatal(b, err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("still open: %v", err)
	}
}

// A closed port of the cell's loopback is told of unless a program of the cell is
// found to listen there, in the other family or a moment later.
func TestOwnServers(t *testing.T) {
	cell := newCell(t, named, "")
	asked := map[uint16]int{}
	cell.order.Listens = func(port uint16) bool {
		cell.mu.Lock()
		defer cell.mu.Unlock()
		asked[port]++
		return port == 8000 || port == 3000 && asked[port] > 1
	}
	for _, port := range []uint16{8000, 3000, 5432} {
		cell.unserved(netip.AddrPortFrom(netip.IPv6Loopback(), port), watch.Closed)
	}
	testwait.Until(t, "only the one that nobody will listen at is waited for", func() bool { return len(cell.opening) <= 1 })
	cell.Close() // nobody is waited for any more
	if got := cell.refusals(); got != "port 5432 of this machine is not in network.host_ports" {
		t.Errorf("recorded %q", got)
	}
}

// A name of the lease that has no address is told of as a failure, once.
func TestNameWithoutAddress(t *testing.T) {
	cell := newCell(t, named, "")
	cell.world.addrs = map[string][]netip.Addr{"good.example": {}}
	for range 3 {
		cell.dns.Answer(t.Context(), question("good.example"))
	}
	var failed []string
	for _, r := range cell.kept {
		if r.Verdict == record.Failed {
			failed = append(failed, r.Name+": "+r.Reason)
		}
	}
	if len(failed) != 1 || failed[0] != "good.example: this machine finds no address for it" {
		t.Errorf("%q", failed)
	}
}
