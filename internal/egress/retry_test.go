package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cordon/internal/egress/protocol"
	"cordon/internal/testwait"
)

// The numbers of RFC 8446, and the random number by which a server asks for a second
// hello.
const (
	tlsChange      = 0x14
	tlsHandshake   = 0x16
	tlsData        = 0x17
	tlsServerHello = 2
	tlsRetryRandom = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91" +
		"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"
)

// tlsRecord is one record of TLS.
func tlsRecord(kind byte, payload string) string {
	return string([]byte{kind, 3, 3, byte(len(payload) >> 8), byte(len(payload))}) + payload
}

// helloFor is the hello of a real client.
func helloFor(t *testing.T, name string) string {
	t.Helper()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		_ = tls.Client(ours, &tls.Config{ServerName: name}).Handshake() // nobody answers
	}()
	defer ours.Close()
	o, err := protocol.ReadOpening(theirs)
	if err != nil || o.Name != name || o.Hello != len(o.Read) {
		t.Fatal(o.Name, o.Hello, len(o.Read), err)
	}
	return string(o.Read)
}

// serverSays is a server's hello with a random number.
func serverSays(random string) string {
	body := "\x03\x03" + random + "\x00\x13\x01\x00\x00\x00"
	return string([]byte{tlsServerHello, 0, 0, byte(len(body))}) + body
}

// answering is a server that sends its words when it has heard something, and tells
// everything that it heard.
func answering(t *testing.T, words string) (at string, heard func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	all := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		first := make([]byte, 64<<10)
		n, _ := c.Read(first)
		_, _ = io.WriteString(c, words)
		_ = c.SetReadDeadline(time.Now().Add(testwait.Bound))
		rest, _ := io.ReadAll(c)
		all <- string(first[:n]) + string(rest)
	}()
	return l.Addr().String(), func() string { return <-all }
}

// A second hello is for the same server as the first, whether it is waited for or
// not, and whatever lies between.
func TestSecondHello(t *testing.T) {
	plain := strings.Repeat("r", 32)
	change, data := tlsRecord(tlsChange, "\x01"), tlsRecord(tlsData, "early")
	good, evil := helloFor(t, "good.example"), helloFor(t, "evil.example")
	for _, c := range []struct {
		what, answer, next string
		passes             bool
	}{
		{"the same again", serverSays(tlsRetryRandom), change + good, true},
		{"another", serverSays(tlsRetryRandom), evil, false},
		{"another after others", serverSays(tlsRetryRandom), change + data + evil, false},
		{"no hello", serverSays(tlsRetryRandom), tlsRecord(tlsHandshake, "\x10\x00\x00\x01x"), false},
		{"a key after a plain hello", serverSays(plain), tlsRecord(tlsHandshake, "\x10\x00\x00\x01x"), true},
	} {
		for _, port := range []uint16{443, 8443} {
			for _, parts := range []int{1, 2} {
				words := tlsRecord(tlsHandshake, c.answer)
				if parts == 2 {
					words = tlsRecord(tlsHandshake, c.answer[:7]) + tlsRecord(tlsHandshake, c.answer[7:])
				}
				at, heard := answering(t, words)
				network := named
				network.AllowedDomains = append([]string{"good.example:8443"}, network.AllowedDomains...)
				cell := newCell(t, network, at)
				conn := cell.dialName(t, "good.example", port)
				fmt.Fprint(conn, good+c.next) // it does not wait for the answer
				_ = conn.CloseWrite()
				answer := said(t, conn)
				got := heard()
				if c.passes != strings.HasSuffix(got, c.next) || !strings.HasPrefix(got, good) || strings.Contains(got, "evil.example") {
					t.Errorf("%s at %d in %d: the server heard %d bytes of %d, %s", c.what, port, parts, len(got), len(good+c.next), cell.refusals())
				}
				if !c.passes && (!strings.HasSuffix(answer, string(protocol.RefusalTLS())) || cell.refusals() == "") {
					t.Errorf("%s at %d: answered %q, %q", c.what, port, answer, cell.refusals())
				}
			}
		}
	}
}

// Real clients and servers that go through a second hello.
func TestRealSecondHello(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") }))
	s.TLS = &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}}
	s.StartTLS()
	defer s.Close()
	cell := newCell(t, named, s.Listener.Addr().String())
	conn := tls.Client(cell.dialName(t, "good.example", 443), &tls.Config{
		ServerName: "good.example", InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384},
	})
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
	if b, err := io.ReadAll(conn); err != nil || !bytes.HasSuffix(b, []byte("reached")) {
		t.Errorf("%q %v: %s", b, err, cell.refusals())
	}
	if !conn.ConnectionState().HelloRetryRequest {
		t.Skip("this server asked for no second hello: nothing was shown")
	}
}

// What is taken for another protocol at a port where any may be spoken is still no
// request that a careless server would take.
func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		said string
		ok   bool
	}{
		{"SSH-2.0-client\r\nHTTP/", true},
		{strings.Repeat("x", 70000) + "HTTP/1.1", true},
		{strings.Repeat("A", 1500) + " / HTTP/1.1\r\nHost: evil.example\r\n\r\n", false},
		{"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", false},
		{" GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", false},
		{"GET\x0b/\x01 http/1.1\nHost: evil.example\n\n", false},
		{"\xa0GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", false},
	} {
		for _, size := range []int{1, 3, 4096} {
			at, heard := answering(t, "")
			cell := newCell(t, named, at)
			conn := cell.dialName(t, "good.example", 8080)
			go func() {
				for b := []byte(c.said); len(b) > 0; b = b[min(size, len(b)):] {
					if _, err := conn.Write(b[:min(size, len(b))]); err != nil {
						return
					}
				}
				_ = conn.CloseWrite()
			}()
			_ = said(t, conn)
			if got := heard(); (got == c.said) != c.ok || !c.ok && strings.Contains(strings.ToUpper(got), "HTTP/") {
				t.Errorf("%.40q by %d: the server heard %d of %d bytes", c.said, size, len(got), len(c.said))
			}
			if size == 1 && len(c.said) > 2000 {
				break
			}
		}
	}
}

// Nobody waits for an answer that will not come any more.
func TestCloseWhileAnAnswerIsAwaited(t *testing.T) {
	for _, port := range []uint16{80, 8080} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(testwait.Bound))
		cell := newCell(t, named, l.Addr().String())
		conn := cell.dialName(t, "good.example", port)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: good.example\r\nUpgrade: x\r\n\r\nmore")
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		_ = server.SetDeadline(time.Now().Add(testwait.Bound))
		if _, err := http.ReadRequest(bufio.NewReader(server)); err != nil { // its answer is awaited from now on
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { cell.Close(); close(done) }()
		select {
		case <-done:
		case <-time.After(testwait.Bound):
			t.Fatalf("port %d: still waiting", port)
		}
	}
}

// A client that says nothing is not the reason to dial anybody.
func TestNobodyIsDialledForNothing(t *testing.T) {
	cell := newCell(t, named, plainServer(t).Listener.Addr().String())
	for _, begin := range []string{"", "GET / HT", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "\x16\x03\x01"} {
		for _, port := range []uint16{80, 443} {
			conn := cell.dialName(t, "good.example", port)
			fmt.Fprint(conn, begin)
			conn.Close()
		}
	}
	cell.Close()
	cell.world.dialed.Range(func(to, _ any) bool { t.Errorf("%s was dialled", to); return true })
}
