package publish

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"cordon/internal/egress/protocol"
)

// fixture is a site that nobody listens for.
func fixture() (*Site, *port) {
	s := &Site{name: "w-1.localhost", entries: newEntries()}
	p := &port{site: s, number: 3000, authority: "w-1.localhost:4000"}
	s.ports = []*port{p, {site: s, number: 3001, authority: "w-1.localhost:4001"}}
	s.csp = policyOfPages(s.ports, []string{"cdn.example"})
	return s, p
}

// Only a request of the operator's own pages is let through, whoever asks.
func TestJudge(t *testing.T) {
	s, p := fixture()
	cookie := "Cookie: a=b; cordon-entry=" + s.entries.secret
	for name, c := range map[string]struct {
		line   string
		fields []string
		want   string // the status; "": let through
	}{
		"with the cookie":         {"GET / HTTP/1.1", []string{cookie}, ""},
		"typed":                   {"GET / HTTP/1.1", []string{cookie, "Sec-Fetch-Site: none"}, ""},
		"its own page":            {"POST /x HTTP/1.1", []string{cookie, "Sec-Fetch-Site: same-origin", "Origin: http://w-1.localhost:4000"}, ""},
		"its other port":          {"POST /x HTTP/1.1", []string{cookie, "Sec-Fetch-Site: same-site", "Origin: http://w-1.localhost:4001"}, ""},
		"without a referrer":      {"POST /x HTTP/1.1", []string{cookie, "Sec-Fetch-Site: same-origin", "Origin: null"}, ""},
		"two cookies of the name": {"GET / HTTP/1.1", []string{"Cookie: cordon-entry=x; cordon-entry=" + s.entries.secret}, ""},
		"no cookie":               {"GET / HTTP/1.1", nil, "403"},
		"another cookie":          {"GET / HTTP/1.1", []string{"Cookie: cordon-entry=guess"}, "403"},
		"part of the cookie":      {"GET / HTTP/1.1", []string{"Cookie: cordon-entry=" + s.entries.secret[:20]}, "403"},
		"empty cookie":            {"GET / HTTP/1.1", []string{"Cookie: cordon-entry="}, "403"},
		"preflight":               {"OPTIONS / HTTP/1.1", []string{"Origin: https://evil.example"}, "403"},
		"another site":            {"GET / HTTP/1.1", []string{cookie, "Sec-Fetch-Site: cross-site"}, "403"},
		"another origin":          {"POST / HTTP/1.1", []string{cookie, "Origin: https://evil.example"}, "403"},
		"a plain localhost":       {"POST / HTTP/1.1", []string{cookie, "Origin: http://localhost:4000"}, "403"},
		"another worker":          {"POST / HTTP/1.1", []string{cookie, "Origin: http://w-2.localhost:4000"}, "403"},
		"another port of it":      {"POST / HTTP/1.1", []string{cookie, "Sec-Fetch-Site: same-site", "Origin: http://w-1.localhost:9999"}, "403"},
		"a sandboxed page":        {"POST / HTTP/1.1", []string{cookie, "Origin: null"}, "403"},
		"a foreign websocket":     {"GET /ws HTTP/1.1", []string{cookie, "Connection: Upgrade", "Upgrade: websocket", "Origin: https://evil.example"}, "403"},
		"CONNECT":                 {"CONNECT w-1.localhost:4000 HTTP/1.1", []string{cookie}, "405"},
		"TRACE":                   {"TRACE / HTTP/1.1", []string{cookie}, "405"},
		"absolute":                {"GET http://w-1.localhost:4000/ HTTP/1.1", []string{cookie}, "400"},
		"star":                    {"OPTIONS * HTTP/1.1", []string{cookie}, "400"},
		"an address that is none": {"GET " + enterPath + "GUESS HTTP/1.1", nil, "403"},
		"an empty address":        {"GET " + enterPath + " HTTP/1.1", nil, "403"},
		"posted address":          {"POST " + enterPath + s.entries.issue() + " HTTP/1.1", nil, "405"},
		"a used address, entered": {"GET " + enterPath + "USED HTTP/1.1", []string{cookie}, "303"},
		"a good address":          {"GET " + enterPath + s.entries.issue() + " HTTP/1.1", []string{"Sec-Fetch-Site: none"}, "303"},
		"a good one from a page":  {"GET " + enterPath + s.entries.issue() + " HTTP/1.1", []string{"Sec-Fetch-Site: cross-site"}, "200"},
	} {
		h := parse(t, c.line, append([]string{"Host: " + p.authority}, c.fields...)...)
		r, cookies := p.judge(h)
		switch {
		case r == nil && c.want != "":
			t.Errorf("%s: let through", name)
		case r != nil && (c.want == "" || !strings.HasPrefix(r.status, c.want)):
			t.Errorf("%s: %s, want %q", name, r.status, c.want)
		case r == nil && strings.Contains(strings.Join(cookies, ";"), cookieName):
			t.Errorf("%s: the server gets %q", name, cookies)
		}
	}
	for _, host := range []string{"", "w-1.localhost", "w-1.localhost:4001", "localhost:4000", "127.0.0.1:4000", "evil.example:4000", "W-1.localhost:4000.", "w-2.localhost:4000"} {
		if r, _ := p.judge(parse(t, "GET / HTTP/1.1", "Host: "+host, cookie)); r == nil || !strings.HasPrefix(r.status, "421") {
			t.Errorf("host %q: %+v", host, r)
		}
	}
	if r, _ := p.judge(parse(t, "GET / HTTP/1.1", "Host: "+p.authority, "Host: evil.example", cookie)); r == nil {
		t.Error("two hosts are let through")
	}
	if r, _ := p.judge(parse(t, "GET / HTTP/1.1", cookie)); r == nil {
		t.Error("no host is let through")
	}
}

func parse(t *testing.T, line string, fields ...string) *protocol.Head {
	t.Helper()
	h, err := protocol.ParseHead([]byte(strings.Join(append([]string{line}, fields...), "\r\n") + "\r\n\r\n"))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return h
}

// An address is good once, and old ones are forgotten.
func TestEntries(t *testing.T) {
	e := newEntries()
	first := e.issue()
	if !e.use(first) || e.use(first) || e.use("") {
		t.Error("an address is good for one use")
	}
	first = e.issue()
	for range maxIssued {
		e.issue()
	}
	if e.use(first) || len(e.tokens) != maxIssued {
		t.Errorf("%d addresses wait", len(e.tokens))
	}
	if a, b := hostName("brisk-otter"), hostName("brisk-otter"); a == b || !strings.HasPrefix(a, "brisk-otter-") || !strings.HasSuffix(a, ".localhost") {
		t.Errorf("%s and %s", a, b)
	}
	if long := hostName(strings.Repeat("Ä.x", 100)); strings.ContainsAny(long[:len(long)-len(".localhost")], ".Ä") || strings.Index(long, ".") > 63 || long[0] == '-' {
		t.Errorf("%s is not a name", long)
	}
}

// The server sees neither the cookie nor what is about the browser's connection.
func TestRequestFor(t *testing.T) {
	h := parse(t, "GET /a?b HTTP/1.1", "Host: w-1.localhost:4000", "Cookie: a=b", "Connection: keep-alive, X-Secret", "X-Secret: 1", "Keep-Alive: 5",
		"Upgrade: h2c", "TE: trailers", "Proxy-Authorization: x", "Accept: */*")
	want := "GET /a?b HTTP/1.1\r\nHost: w-1.localhost:4000\r\nAccept: */*\r\nCookie: c=d\r\nConnection: close\r\n\r\n"
	if got := string(requestFor(h, []string{"c=d"}, upgrades(h), body{})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	h = parse(t, "GET /ws HTTP/1.1", "Host: x", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Key: k")
	if got := string(requestFor(h, nil, upgrades(h), body{})); !strings.HasSuffix(got, "Sec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n") {
		t.Errorf("%q", got)
	}
}

// A hostile server sets no cookie for other names and none of ours, and names no other
// servers.
func TestAnswerFor(t *testing.T) {
	_, p := fixture()
	a, err := readAnswer(bufio.NewReader(strings.NewReader("HTTP/1.0 200 OK\r\nSet-Cookie: a=b; Domain=localhost; Path=/\r\nset-cookie: c=d;DOMAIN = .localhost;HttpOnly\r\n" +
		"Set-Cookie: cordon-entry=evil\r\nSet-Cookie: Cordon-Entry =evil\r\nSet-Cookie: =cordon-entry=evil\r\nSet-Cookie: nameless\r\nAlt-Svc: h3=\":1\"\r\nReport-To: x\r\nNEL: x\r\n" +
		"Content-Security-Policy-Report-Only: img-src 'none'; report-uri https://evil.example\r\n" +
		"Content-Security-Policy: img-src 'self';Report-URI https://evil.example,report-to\tx; font-src a\r\n" +
		"Connection: keep-alive\r\nLocation: http://localhost:3000/x\r\nContent-Length: 7\r\nX-Other: y\r\n\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nset-cookie: c=d;HttpOnly\r\nContent-Security-Policy: img-src 'self', font-src a\r\nLocation: http://w-1.localhost:4000/x\r\nX-Other: y\r\n" +
		"Content-Security-Policy: " + p.site.csp + "\r\nContent-Length: 7\r\n\r\n"
	if got := string(a.bytesFor(p, "Content-Length: 7")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(p.site.csp, " cdn.example ") || !strings.Contains(p.site.csp, "form-action 'self'") {
		t.Errorf("%s", p.site.csp)
	}
	for location, want := range map[string]string{
		"/x": "/x", "http://127.0.0.1:3000": "http://w-1.localhost:4000", "http://localhost:30000/": "http://localhost:30000/",
		"http://localhost:3000.evil.example/": "http://localhost:3000.evil.example/", "http://localhost:3000@evil.example/": "http://localhost:3000@evil.example/",
		"https://evil.example/": "https://evil.example/",
	} {
		if got := p.homeward(location); got != want {
			t.Errorf("%s leads to %s, want %s", location, got, want)
		}
	}
	for _, bad := range []string{
		"", "\x16\x03\x01\x00", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n", "HTTP/1.1 200 OK\r\nx\r\n\r\n",
		"HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
	} {
		if a, err := readAnswer(bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("%.40q is read as %+v", bad, a)
		}
	}
}

func TestBody(t *testing.T) {
	for _, c := range []struct{ lengths, codings string }{{"1,1", ""}, {"+1", ""}, {"-1", ""}, {"0x1", ""}, {"01", ""}, {"", "gzip"}, {"", "chunked, chunked"}, {"1", "chunked"}} {
		list := func(s string) []string {
			if s == "" {
				return nil
			}
			return []string{s}
		}
		if b, err := bodyOf(list(c.lengths), list(c.codings)); err == nil {
			t.Errorf("%+v is read as %+v", c, b)
		}
	}
	if _, err := bodyOf([]string{"1", "1"}, nil); err == nil {
		t.Error("two lengths")
	}
	for text, want := range map[string]string{
		"5\r\nhello\r\n0\r\n\r\n":                       "hello",
		"2;x=y\r\nhe\r\n3 \r\nllo\r\n0\r\nT: x\r\n\r\n": "hello",
		"0\r\n\r\n":                 "",
		"5\r\nhell":                 "!",
		"5\r\nhelloX\r\n":           "!",
		"5\nhello\n0\n\n":           "!",
		"-1\r\n":                    "!",
		"\r\n":                      "!",
		"fffffffffffffffffffff\r\n": "!",
		"0\r\n":                     "!",
	} {
		b, err := io.ReadAll(body{chunked: true}.reader(bufio.NewReader(strings.NewReader(text))))
		if err != nil {
			b = []byte("!")
		}
		if string(b) != want {
			t.Errorf("%q is %q, want %q", text, b, want)
		}
	}
	if _, err := io.ReadAll(body{length: 3}.reader(bufio.NewReader(strings.NewReader("ab")))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a short body: %v", err)
	}
}

// Whatever is sent in chunks is read back the same, and nothing behind it is touched.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("hello"), 2)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		var wire bytes.Buffer
		if err := send(&wire, &slow{bytes.NewReader(text), max(size%100, 1)}, true); err != nil {
			t.Fatal(err)
		}
		wire.WriteString("NEXT")
		in := bufio.NewReader(&wire)
		got, err := io.ReadAll(body{chunked: true}.reader(in))
		rest, _ := io.ReadAll(in)
		if err != nil || !bytes.Equal(got, text) || string(rest) != "NEXT" {
			t.Errorf("%q, %q, %v", got, rest, err)
		}
	})
}

type slow struct {
	r    io.Reader
	most int
}

func (s *slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.most)]) }
