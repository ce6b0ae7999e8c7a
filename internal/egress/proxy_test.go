package egress

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/egress/dns"
	"cordon/internal/egress/protocol"
	"cordon/internal/egress/record"
	"cordon/internal/policy"
	"cordon/internal/testnet"
	"cordon/internal/testwait"
)

const testToken = "0123456789abcdef"

// proxyOf is a network that is served as a proxy, and where.
func proxyOf(t *testing.T, n policy.Network, server, token string) (*cellOf, string) {
	t.Helper()
	cell := newCell(t, n, server)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := cell.Serve(Sockets{Proxy: f}, token); err != nil {
		t.Fatal(err)
	}
	return cell, l.Addr().String()
}

// tellProxy sends bytes to a proxy and is everything that comes back.
func tellProxy(t *testing.T, at, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testwait.Bound))
	_, _ = io.WriteString(c, text)
	b, err := io.ReadAll(c)
	if err != nil && len(b) == 0 {
		return err.Error()
	}
	return string(b)
}

// What a client writes by hand, and what it gets.
func TestProxyByHand(t *testing.T) {
	web := plainServer(t)
	get := func(u, host, more string) string {
		return "GET " + u + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n"
	}
	for _, c := range []struct{ name, send, answer, reason string }{
		{"a URL", get("http://good.example/a/b", "good.example", ""), "host=good.example path=/a/b", ""},
		{"without a path", get("http://good.example", "good.example", ""), "path=/", ""},
		{"with a question", get("http://good.example?q=1", "good.example", ""), "path=/", ""},
		{"upper case", get("HTTP://GOOD.example/a", "good.EXAMPLE", ""), "path=/a", ""},
		{"a leased port", get("http://good.example:8080/a", "good.example:8080", ""), "host=good.example:8080 path=/a", ""},
		{"another port", get("http://good.example:81/a", "good.example:81", ""), "403 Forbidden", "port 81 of good.example"},
		{"another name", get("http://bad.example/a", "bad.example", ""), "bad.example is not in network.allowed_domains", "bad.example is not in"},
		{"another Host", get("http://good.example/a", "bad.example", ""), "403 Forbidden", `for "bad.example" by its Host`},
		{"no Host", "GET http://good.example/a HTTP/1.1\r\n\r\n", "400 Bad Request", ""},
		{"two Hosts", get("http://good.example/a", "good.example", "Host: bad.example\r\n"), "400 Bad Request", ""},
		{"a user", get("http://good.example@bad.example/", "bad.example", ""), "400 Bad Request", ""},
		{"a user that is the host", get("http://good.example:80@bad.example/", "good.example", ""), "400 Bad Request", ""},
		{"a backslash", get("http://good.example\\@bad.example/", "good.example", ""), "400 Bad Request", ""},
		{"a fragment", get("http://good.example#@bad.example/", "good.example", ""), "400 Bad Request", ""},
		{"https", get("https://good.example/", "good.example", ""), "403 Forbidden", ""},
		{"ftp", get("ftp://good.example/", "good.example", ""), "403 Forbidden", ""},
		{"a path", get("/a", "good.example", ""), "this is a proxy", ""},
		{"a path like a URL", get("/http://good.example/a", "good.example", ""), "this is a proxy", ""},
		{"every path", "OPTIONS * HTTP/1.1\r\nHost: good.example\r\n\r\n", "403 Forbidden", ""},
		{"an address", get("http://8.8.8.8/", "8.8.8.8", ""), "403 Forbidden", "8.8.8.8:80 is an address"},
		{"metadata", get("http://169.254.169.254/latest", "169.254.169.254", ""), "403 Forbidden", "169.254.169.254"},
		{"a mapped address", get("http://[::ffff:169.254.169.254]/", "[::ffff:169.254.169.254]", ""), "403 Forbidden", "169.254.169.254"},
		{"a number", get("http://2130706433/", "2130706433", ""), "403 Forbidden", "2130706433"},
		{"a short address", get("http://127.1/", "127.1", ""), "403 Forbidden", "127.1"},
		{"hexadecimal", get("http://0x7f.0.0.1/", "0x7f.0.0.1", ""), "403 Forbidden", "0x7f"},
		{"an address with a dot", get("http://127.0.0.1./", "127.0.0.1.", ""), "403 Forbidden", "127.0.0.1"},
		{"a port of this machine", get("http://127.0.0.1:81/", "127.0.0.1:81", ""), "403 Forbidden", "port 81 of this machine"},
		{"everywhere", get("http://0.0.0.0:81/", "0.0.0.0:81", ""), "403 Forbidden", "port 81 of this machine"},
		{"localhost", get("http://localhost:81/", "localhost:81", ""), "403 Forbidden", "port 81 of this machine"},
		{"a host port", get("http://localhost:7777/x", "localhost:7777", ""), "host=localhost:7777 path=/x", ""},
		{"a host port by its address", get("http://[::1]:7777/x", "[::1]:7777", ""), "path=/x", ""},
		{"a zone", get("http://[fe80::1%25lo]/", "[fe80::1%25lo]", ""), "400 Bad Request", ""},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 Bad Request", ""},
		{"bare LF", "GET http://good.example/ HTTP/1.1\nHost: good.example\n\n", "400 Bad Request", ""},
		{"NUL", get("http://good.example/", "good.example\x00.bad.example", ""), "400 Bad Request", ""},
		{"a folded line", get("http://good.example/", "good.example", " folded: x\r\n"), "400 Bad Request", ""},
		{"too long", get("http://good.example/"+strings.Repeat("x", maxProxyHead), "good.example", ""), "431 ", ""},
		{"garbage", "\x16\x03\x01\x00\x05hello", "400 Bad Request", ""},
		{"CONNECT without a port", "CONNECT good.example HTTP/1.1\r\n\r\n", "400 Bad Request", ""},
		{"CONNECT to port 0", "CONNECT good.example:0 HTTP/1.1\r\n\r\n", "400 Bad Request", ""},
		{"CONNECT to nobody", "CONNECT :443 HTTP/1.1\r\n\r\n", "400 Bad Request", ""},
		{"CONNECT to another", "CONNECT bad.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n", "X-Cordon-Refused: bad.example is not in network.allowed_domains\r\n", "bad.example"},
		{"CONNECT to an odd name", "CONNECT xn--a:443 HTTP/1.1\r\n\r\n", "403 Forbidden", "not a host name"},
		{"CONNECT and HTTP at once", "CONNECT good.example:80 HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n", "path=/t", ""},
		{"CONNECT and another Host", "CONNECT good.example:80 HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\nHost: bad.example\r\nConnection: close\r\n\r\n", "403 Forbidden", "bad.example"},
		{"SOCKS4", "\x04\x01\x00\x50\x08\x08\x08\x08\x00", "\x00\x5b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			lease := named
			lease.HostPorts = []int{7777}
			cell, at := proxyOf(t, lease, web.Listener.Addr().String(), "")
			if got := tellProxy(t, at, c.send); !strings.Contains(got, c.answer) {
				t.Errorf("answered %q, want %q", got, c.answer)
			}
			if got := cell.refusals(); !strings.Contains(got, c.reason) || c.reason == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, c.reason)
			}
		})
	}
}

// What a server sees of a request is what was for it.
func TestProxyForwards(t *testing.T) {
	var head http.Header
	var body string
	var closes bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		head, body, closes = r.Header, r.Method+" "+r.RequestURI+" "+string(b), r.Close
	}))
	defer s.Close()
	cell, at := proxyOf(t, named, s.Listener.Addr().String(), testToken)
	auth := base64.StdEncoding.EncodeToString([]byte("cordon:" + testToken))
	got := tellProxy(t, at, "POST http://good.example/a?b HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Basic "+auth+
		"\r\nProxy-Connection: keep-alive\r\nproxy-x: y\r\nConnection: keep-alive, X-Private, content-length\r\nKeep-Alive: 5\r\nX-Private: "+
		"1\r\nX-Public: 2\r\nTE: trailers\r\nContent-Length: 4\r\n\r\nbody")
	if !strings.HasPrefix(got, "HTTP/1.1 200") || body != "POST /a?b body" || !closes {
		t.Errorf("%q, %q, %t", got, body, closes)
	}
	delete(head, "Content-Length")
	delete(head, "Connection")
	if len(head) != 1 || head.Get("X-Public") != "2" {
		t.Errorf("the server sees %v", head)
	}
	got = tellProxy(t, at, "POST http://good.example/c HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Basic "+auth+
		"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200") || body != "POST /c abc" {
		t.Errorf("%q, %q", got, body)
	}
	if got := cell.refusals(); got != "" {
		t.Error(got)
	}
}

// A second request of a connection is for the first one's host, whatever it says.
func TestProxySecondRequest(t *testing.T) {
	cell, at := proxyOf(t, policy.Network{AllowedDomains: []string{"good.example", "other.example"}}, plainServer(t).Listener.Addr().String(), "")
	got := tellProxy(t, at, "GET http://good.example/1 HTTP/1.1\r\nHost: good.example\r\n\r\nGET http://other.example/2 HTTP/1.1\r\nHost: other.example\r\n\r\n")
	if !strings.Contains(got, "path=/1") || strings.Contains(got, "path=/2") {
		t.Errorf("%q", got)
	}
	if got := cell.refusals(); got != "" && !strings.Contains(got, "other.example") {
		t.Error(got)
	}
}

func TestProxyToken(t *testing.T) {
	cell, at := proxyOf(t, named, plainServer(t).Listener.Addr().String(), testToken)
	dialled := func() bool {
		n := 0
		cell.world.dialed.Range(func(_, _ any) bool { n++; return true })
		cell.world.dialed.Clear()
		return n > 0
	}
	for _, c := range []struct{ shown, want string }{
		{"", "407"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("cordon:"+testToken)), "200 OK"},
		{"basic " + base64.StdEncoding.EncodeToString([]byte("cordon:"+testToken)), "200 OK"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("cordon:"+testToken[1:])), "407"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("root:"+testToken)), "407"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("cordon:")), "407"},
		{"Basic !", "407"},
		{"Bearer " + testToken, "407"},
	} {
		text := "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n"
		if c.shown != "" {
			text += "Proxy-Authorization: " + c.shown + "\r\n"
		}
		got := tellProxy(t, at, text+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.want) || c.want == "407" && !strings.Contains(got, "Proxy-Authenticate: Basic") {
			t.Errorf("%q: %q", c.shown, got)
		}
		if dialled() == (c.want == "407") {
			t.Errorf("%q: dialled is %t", c.shown, c.want == "407")
		}
	}
	if got := tellProxy(t, at, "CONNECT good.example:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: good.example\r\n\r\n"); !strings.HasPrefix(got,
		"HTTP/1.1 407") || strings.Contains(got, "200") || dialled() {
		t.Errorf("%q", got)
	}
}

// The other side's failures are told apart from ours.
func TestProxyFailures(t *testing.T) {
	cell, at := proxyOf(t, named, testnet.Refusing(t), "")
	for _, c := range []struct {
		addrs  []netip.Addr
		http   string
		socks  byte
		record record.Verdict
	}{
		{[]netip.Addr{somewhere}, "502 Bad Gateway", socksNoAnswer, record.Failed},
		{[]netip.Addr{}, "502 Bad Gateway", socksUnreachable, record.Failed},
		{[]netip.Addr{netip.MustParseAddr("10.0.0.1")}, "403 Forbidden", socksNotAllowed, record.Refused},
	} {
		cell.world.addrs = map[string][]netip.Addr{"good.example": c.addrs}
		cell.resolver = dns.NewResolver(cell.order.Reach, cell.world) // the cache has run out
		for _, send := range []string{"CONNECT good.example:443 HTTP/1.1\r\n\r\n", "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"} {
			if got := tellProxy(t, at, send); !strings.HasPrefix(got, "HTTP/1.1 "+c.http) {
				t.Errorf("%v: %q", c.addrs, got)
			}
		}
		got := tellProxy(t, at, "\x05\x01\x00\x05\x01\x00\x03\x0cgood.example\x01\xbb")
		if want := "\x05\x00" + string(socksReply(c.socks)); got != want {
			t.Errorf("%v: %q, want %q", c.addrs, got, want)
		}
		cell.mu.Lock()
		if last := cell.kept[len(cell.kept)-1]; last.Verdict != c.record || last.Name != "good.example" {
			t.Errorf("%v: %+v", c.addrs, last)
		}
		cell.mu.Unlock()
	}
}

// What is recorded of a client of the proxy is what it wanted, not where the proxy
// is.
func TestProxyRecords(t *testing.T) {
	cell, at := proxyOf(t, named, plainServer(t).Listener.Addr().String(), "")
	tellProxy(t, at, "GET http://good.example:8080/ HTTP/1.1\r\nHost: good.example:8080\r\n\r\n")
	tellProxy(t, at, "CONNECT bad.example:25 HTTP/1.1\r\n\r\n")
	tellProxy(t, at, "CONNECT 8.8.8.8:25 HTTP/1.1\r\n\r\n")
	cell.Close()
	want := []string{"connect 8.8.8.8 25 refuse", "connect bad.example 25 refuse", "connect good.example 8080 allow", "end good.example 8080 allow",
		"resolve good.example 0 allow"}
	var got []string
	for _, r := range cell.kept {
		got = append(got, fmt.Sprintf("%s %s %d %s", r.Kind, cmp.Or(r.Name, r.Address), r.Port, r.Verdict))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// A client that says nothing, or little, is not waited for beyond its time, and
// many of them cost no more than a goroutine each.
func TestProxySlowClients(t *testing.T) {
	cell, at := proxyOf(t, named, "", "")
	before := runtime.NumGoroutine()
	var open []net.Conn
	for i := range 50 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, []string{"", "\x05", "\x05\x01\x00\x05", "GET http://good", "CONNECT good.example:443 HTTP/1.1\r\n"}[i%5])
		open = append(open, c)
	}
	serving := func() int { return runtime.NumGoroutine() - before }
	count := func() string { return fmt.Sprintf("%d goroutines for %d connections", serving(), len(open)) }
	testwait.Until(t, "every connection is served", func() bool { return len(cell.open) == len(open) }, count)
	testwait.Still(t, "a connection costs no more than two goroutines", 50*time.Millisecond, func() bool { return serving() <= 2*len(open) }, count)
	began := time.Now()
	cell.Close()
	if d := time.Since(began); d > time.Minute {
		t.Errorf("Close took %s", d)
	}
	for _, c := range open {
		_ = c.SetReadDeadline(time.Now().Add(testwait.Bound))
		if _, err := io.ReadAll(c); os.IsTimeout(err) {
			t.Error("a connection is left open")
		}
	}
}

func TestProxyDeadline(t *testing.T) {
	_, at := proxyOf(t, named, "", "")
	began := time.Now() // its time begins when it is connected, and not later
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { // a byte now and then does not lengthen it
		now := time.NewTicker(500 * time.Millisecond)
		defer now.Stop()
		for {
			select {
			case <-now.C:
			case <-t.Context().Done():
				return
			}
			if _, err := io.WriteString(c, "G"); err != nil {
				return
			}
		}
	}()
	_ = c.SetReadDeadline(time.Now().Add(testwait.Bound))
	b, err := io.ReadAll(c)
	if d := time.Since(began); os.IsTimeout(err) || d < hearing-time.Second {
		t.Errorf("%q, %v after %s", b, err, d)
	}
}

// The usual client of Go, with names that only the proxy can resolve.
func TestProxyGoClient(t *testing.T) {
	web := plainServer(t)
	secure := secureServer()
	defer secure.Close()
	for _, scheme := range []string{"http", "socks5h"} {
		for _, server := range []*httptest.Server{web, secure} {
			cell, at := proxyOf(t, named, server.Listener.Addr().String(), testToken)
			proxy := &url.URL{Scheme: scheme, User: url.UserPassword("cordon", testToken), Host: at}
			transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			client := &http.Client{Transport: transport, Timeout: testwait.Bound}
			secured, _, _ := strings.Cut(server.URL, ":")
			for range 2 {
				r, err := client.Get(secured + "://good.example/a")
				if err != nil {
					t.Errorf("%s by %s: %v", secured, scheme, err)
					continue
				}
				b, _ := io.ReadAll(r.Body)
				r.Body.Close()
				if r.StatusCode != 200 || !strings.Contains(string(b), "host=good.example path=/a") {
					t.Errorf("%s by %s: %s %q", secured, scheme, r.Status, b)
				}
			}
			if r, err := client.Get(secured + "://bad.example/a"); err == nil {
				b, _ := io.ReadAll(r.Body)
				r.Body.Close()
				if r.StatusCode != 403 || !strings.Contains(string(b), "bad.example is not in network.allowed_domains") {
					t.Errorf("%s %q", r.Status, b)
				}
			}
			transport.CloseIdleConnections()
			if got := cell.refusals(); !strings.Contains(got, "bad.example is not in") {
				t.Errorf("%s by %s recorded %q", secured, scheme, got)
			}
		}
	}
}

func secureServer() *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "host=%s path=%s", r.Host, r.URL.Path) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were refused on the way
	s.StartTLS()
	return s
}

// The usual client of everybody.
func TestProxyCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl here")
	}
	web, secure := plainServer(t), secureServer()
	defer secure.Close()
	for _, c := range []struct {
		server   *httptest.Server
		args     string
		want     string
		succeeds bool
	}{
		{web, "-x http://cordon:TOKEN@AT http://good.example/a", "host=good.example path=/a", true},
		{web, "-x http://cordon:TOKEN@AT -d body -H Expect:100-continue http://good.example/a", "path=/a", true},
		{web, "-p -x http://cordon:TOKEN@AT http://good.example/a", "path=/a", true},
		{web, "-x http://cordon:TOKEN@AT http://bad.example/a", "bad.example is not in network.allowed_domains", true},
		{web, "-x http://AT http://good.example/a", "another program", true},
		{web, "--socks5-hostname cordon:TOKEN@AT http://good.example/a", "path=/a", true},
		{web, "--socks5-hostname cordon:wrong@AT http://good.example/a", "", false},
		{web, "--socks5-hostname cordon:TOKEN@AT http://bad.example/a", "", false},
		{web, "--socks5-hostname cordon:TOKEN@AT http://8.8.8.8/a", "", false},
		{web, "-x socks4a://AT http://good.example/a", "", false},
		{secure, "-k -x http://cordon:TOKEN@AT https://good.example/a", "path=/a", true},
		{secure, "-k -i -x http://cordon:TOKEN@AT https://bad.example/a", "X-Cordon-Refused: bad.example", false},
		{secure, "-k --connect-to good.example:443:good.example:443 -x http://cordon:TOKEN@AT https://bad.example/a", "", false},
		{secure, "-k --socks5-hostname cordon:TOKEN@AT https://good.example/a", "path=/a", true},
		{secure, "-k --connect-to bad.example:443:good.example:443 -x http://cordon:TOKEN@AT https://bad.example/a", "", false}, // fronting
	} {
		_, at := proxyOf(t, named, c.server.Listener.Addr().String(), testToken)
		args := strings.Fields(strings.NewReplacer("AT", at, "TOKEN", testToken).Replace(c.args))
		cmd := exec.Command(curl, append([]string{"-q", "-sS", "-m", "120"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if (err == nil) != c.succeeds || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
	}
}

func TestSplitHostPort(t *testing.T) {
	for _, c := range []struct {
		s     string
		usual uint16
		host  string
		port  uint16
		ok    bool
	}{
		{"a.example:443", 0, "a.example", 443, true},
		{"a.example", 80, "a.example", 80, true},
		{"a.example", 0, "", 0, false},
		{"[::1]:22", 0, "::1", 22, true},
		{"[::1]", 80, "::1", 80, true},
		{"[::1", 80, "", 0, false},
		{"[127.0.0.1]:80", 80, "", 0, false},
		{"[::1]80", 80, "", 0, false},
		{"::1", 80, "", 0, false},
		{"a:b:1", 80, "", 0, false},
		{"a:", 80, "", 0, false},
		{"a:0", 80, "", 0, false},
		{"a:65536", 80, "", 0, false},
		{"a:+80", 80, "", 0, false},
		{"a@b:80", 80, "", 0, false},
		{"", 80, "", 0, false},
		{":80", 80, "", 0, false},
	} {
		host, port, ok := splitHostPort(c.s, c.usual)
		if ok != c.ok || ok && (host != c.host || port != c.port) {
			t.Errorf("%q: %q %d %t", c.s, host, port, ok)
		}
	}
}

// What is sent on is one request, for the host that was judged, as others read it.
func FuzzProxyHead(f *testing.F) {
	for _, s := range []string{
		"GET http://good.example/a HTTP/1.1\r\nHost: good.example\r\nConnection: x, host\r\nX: y\r\nProxy-Authorization: Basic YTpi\r\n\r\n",
		"POST http://[::1]:80?x HTTP/1.0\r\nhost: [::1]\r\nContent-Length: 3\r\n\r\nabc",
		"CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		scan := protocol.HeadScan{Limit: maxProxyHead}
		end, err := scan.Find(b)
		if err != nil || end == 0 {
			return
		}
		c, err := parseCall(b[:end])
		if err != nil || c.forward == nil {
			if c.forward != nil && err == nil || err == nil && (c.host == "" || c.port == 0) {
				t.Errorf("%+v %v", c, err)
			}
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(c.forward)))
		if err != nil {
			// Others are stricter about what is the server's to judge, and it is read
			// once more before it is sent.
			if _, perr := protocol.ParseHead(c.forward); perr != nil {
				t.Errorf("%q is read by nobody: %v, %v", c.forward, err, perr)
			}
			return
		}
		if !r.Close || r.URL.IsAbs() || len(r.Header.Values("Proxy-Authorization")) > 0 || len(r.Header.Values("Upgrade")) > 0 {
			t.Errorf("%q", c.forward)
		}
		if host, port, ok := splitHostPort(r.Host, 80); c.stranger == "" && (!ok || port != c.port || !strings.EqualFold(strings.TrimSuffix(host, "."),
			strings.TrimSuffix(c.host, "."))) {
			t.Errorf("%q is for %s, and not for %s:%d", c.forward, r.Host, c.host, c.port)
		}
	})
}
