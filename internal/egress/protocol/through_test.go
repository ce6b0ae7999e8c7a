package protocol

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// between stands between clients and a server, and lets through what requests
// does. It is the smallest relay that can be.
func between(t *testing.T, server string) (at string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go relayOne(c.(*net.TCPConn), server)
		}
	}()
	return l.Addr().String(), connections
}

func relayOne(c *net.TCPConn, server string) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(testwait.Bound))
	o, err := ReadOpening(c)
	if err != nil || o.Protocol != HTTP {
		return
	}
	conn, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer conn.Close()
	s := conn.(*net.TCPConn)
	q := NewRequests(c, o.Read, "a.example", 80)
	done := make(chan struct{})
	go func() { defer close(done); io.Copy(c, q.Answers(s)) }()
	_, err = io.Copy(s, struct{ io.Reader }{q})
	s.CloseWrite()
	<-done
	var strange *StrangerError
	if errors.As(err, &strange) {
		c.Write(RefusalHTTP(strange.Error()))
	}
}

// realServer says what it was asked, takes bodies and echoes over another protocol.
func realServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s %s %d %v %s", r.Method, r.Host, r.URL.Path, n, err, r.Trailer.Get("X-Sum"))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(c, rw)
	})
	mux.HandleFunc("/no", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func client(t *testing.T, at string) *http.Client {
	t.Helper()
	transport := &http.Transport{
		ExpectContinueTimeout: 2 * testwait.Bound, // longer than any test: a lost 100 is a failure
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: testwait.Bound}
}

func say(t *testing.T, c *http.Client, req *http.Request) string {
	t.Helper()
	answer, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(answer.StatusCode, " ", string(b))
}

func request(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestRealClientThroughRequests(t *testing.T) {
	at, connections := between(t, realServer(t))
	c := client(t, at)
	for i := range 20 {
		path := fmt.Sprintf("/%d", i)
		if got := say(t, c, request(t, "GET", "http://a.example"+path, nil)); got != "200 GET a.example "+path+" 0 <nil> " {
			t.Fatal(got)
		}
	}
	large := strings.Repeat("x", 3<<20)
	if got := say(t, c, request(t, "PUT", "http://a.example/length", strings.NewReader(large))); !strings.Contains(got, "/length 3145728 <nil>") {
		t.Error(got)
	}
	req := request(t, "POST", "http://a.example/chunks", struct{ io.Reader }{strings.NewReader(large)})
	req.Trailer = http.Header{"X-Sum": {"42"}}
	if got := say(t, c, req); !strings.Contains(got, "/chunks 3145728 <nil> 42") {
		t.Error(got)
	}
	req = request(t, "POST", "http://a.example/expect", strings.NewReader(large))
	req.Header.Set("Expect", "100-continue")
	if got := say(t, c, req); !strings.Contains(got, "/expect 3145728 <nil>") {
		t.Error(got)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	req = request(t, "GET", "http://a.example/", nil)
	req.Host = "b.example"
	if got := say(t, c, req); !strings.HasPrefix(got, "403 cordon refused this: the request is for b.example") {
		t.Error(got)
	}
	if got := say(t, client(t, at), req); !strings.HasPrefix(got, "403 cordon refused this: the request is for b.example") {
		t.Error(got)
	}
}

// Without requests between them, the server answers to any name.
func TestRealClientWithoutRequests(t *testing.T) {
	c := client(t, realServer(t))
	req := request(t, "GET", "http://a.example/", nil)
	req.Host = "b.example"
	if got := say(t, c, req); !strings.HasPrefix(got, "200 GET b.example") {
		t.Error(got)
	}
}

func dialTest(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testwait.Bound))
	return c
}

func TestOtherProtocolThroughRequests(t *testing.T) {
	at, _ := between(t, realServer(t))
	req := request(t, "GET", "http://a.example/echo", nil)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"echo"}}
	answer, err := client(t, at).Transport.RoundTrip(req)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	defer answer.Body.Close()
	tunnel := answer.Body.(io.ReadWriter)
	said := []byte("\x00\x81GET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
	got := make([]byte, len(said))
	for range 3 {
		if _, err := tunnel.Write(said); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(tunnel, got); err != nil || !bytes.Equal(got, said) {
			t.Fatalf("%q %v", got, err)
		}
	}
	for what, early := range map[string]string{"/echo": string(said), "/no": get + "\r\n"} {
		c := dialTest(t, at) // a client that does not wait
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\n%sConnection: Upgrade\r\nUpgrade: echo\r\n\r\n%s", what, host, early)
		c.(*net.TCPConn).CloseWrite()
		b, err := io.ReadAll(c)
		if err != nil || what == "/echo" && !bytes.HasSuffix(b, said) || what == "/no" && (!bytes.Contains(b, []byte(" 401 ")) || !bytes.Contains(b,
			[]byte("GET a.example / "))) {
			t.Errorf("%s: %q %v", what, b, err)
		}
	}
}

func TestPipelineThroughRequests(t *testing.T) {
	at, _ := between(t, realServer(t))
	c := dialTest(t, at)
	io.WriteString(c, strings.Repeat(get+"\r\n", 10)+chunked+"5\r\nhello\r\n0\r\n\r\n"+get+"\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
	r := bufio.NewReader(c)
	for i := range 13 {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		b, err := io.ReadAll(answer.Body)
		want := "POST a.example / 5 <nil> "
		switch {
		case i == 12:
			want = "cordon refused this: the request is for b.example"
		case i != 10:
			want = "GET a.example / 0 <nil> "
		}
		if err != nil || !strings.HasPrefix(string(b), want) {
			t.Errorf("answer %d: %d %q %v", i, answer.StatusCode, b, err)
		}
	}
}
