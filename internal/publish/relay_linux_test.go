package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// published is a site in front of a handler of this process. Its sockets are those of the
// machine, which stands for the cell.
type published struct {
	*Site
	t      *testing.T
	port   int
	dir    string
	client *http.Client
}

func publishing(t *testing.T, network, address string, h http.Handler) *published {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil && network == "tcp6" {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return publishingPort(t, l.Addr().(*net.TCPAddr).Port, 4)
}

func publishingPort(t *testing.T, port, sockets int) *published {
	t.Helper()
	var files []*os.File
	for range sockets {
		for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
			fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			f := os.NewFile(uintptr(fd), "socket")
			t.Cleanup(func() { f.Close() })
			files = append(files, f)
		}
	}
	p := &published{t: t, port: port, dir: t.TempDir()}
	var err error
	if p.Site, err = Open(Order{Name: "w", Ports: []int{port}, Inward: files, Dir: p.dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.client = &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.ports[0].listener.Addr().String())
	}}}
	t.Cleanup(p.client.CloseIdleConnections)
	return p
}

// enter gets the cookie.
func (p *published) enter() *published {
	p.t.Helper()
	if code, text := p.get(p.client, p.Address(p.port)); code != 200 && code != 404 && code != 502 {
		p.t.Fatalf("%d %s", code, text)
	}
	return p
}

func (p *published) get(c *http.Client, url string) (int, string) {
	p.t.Helper()
	r, err := c.Get(url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func (p *published) url(path string) string { return "http://" + p.ports[0].authority + path }

// A browser that has entered sees the pages, over and over through few sockets, and over one
// connection.
func TestRelay(t *testing.T) {
	for _, where := range []struct{ network, address string }{{"tcp4", "127.0.0.1:0"}, {"tcp6", "[::1]:0"}, {"tcp", ":0"}} {
		t.Run(where.network, func(t *testing.T) {
			p := publishing(t, where.network, where.address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				http.SetCookie(w, &http.Cookie{Name: "own", Value: "1"})
				fmt.Fprintf(w, "%s %s %s %q %s", r.Method, r.URL, r.Host, r.Header["Cookie"], body)
			})).enter()
			for i := range 50 {
				want := fmt.Sprintf("GET /%d %s [\"own=1\"] ", i, p.ports[0].authority)
				if code, text := p.get(p.client, p.url(fmt.Sprintf("/%d", i))); code != 200 || text != want {
					t.Fatalf("%d %q, want %q", code, text, want)
				}
			}
			for name, body := range map[string]io.Reader{"length": strings.NewReader("hello"), "chunks": io.MultiReader(strings.NewReader("hel"), strings.NewReader("lo"))} {
				r, err := p.client.Post(p.url("/post"), "text/plain", body)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || !strings.HasSuffix(string(text), " hello") {
					t.Errorf("%s: %q %v", name, text, err)
				}
			}
			if r, err := p.client.Head(p.url("/")); err != nil || r.StatusCode != 200 || r.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%v %v", r, err)
			}
		})
	}
}

// Whoever has no cookie never gets as far as the server.
func TestNobodyElse(t *testing.T) {
	var asked atomic.Int32
	p := publishing(t, "tcp4", "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	stranger := &http.Client{Transport: p.client.Transport}
	if code, text := p.get(stranger, p.url("/")); code != 403 || !strings.Contains(text, "cordon open") {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := p.get(stranger, "http://"+p.ports[0].listener.Addr().String()+"/"); code != 421 {
		t.Errorf("%d", code)
	}
	address := p.Address(p.port)
	stranger.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if code, _ := p.get(stranger, address); code != 303 {
		t.Errorf("the first use: %d", code)
	}
	if code, _ := p.get(stranger, address); code != 403 {
		t.Errorf("the second use: %d", code)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	if p.enter(); asked.Load() == 0 {
		t.Error("the control: whoever entered does not reach it")
	}
}

// What a server sends in parts arrives in parts, and what it sends in a strange form does not
// arrive.
func TestServers(t *testing.T) {
	next := make(chan bool)
	p := publishing(t, "tcp4", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			for range 3 {
				fmt.Fprint(w, "event\n")
				w.(http.Flusher).Flush()
				<-next
			}
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, map[string]string{
			"/old": "HTTP/1.0 200 OK\r\nSet-Cookie: x=y; Domain=localhost\r\n\r\nto the end", "/tls": "\x15\x03\x01\x00\x02\x02\x16", "/both": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			"/switch": "HTTP/1.1 101 Switching Protocols\r\n\r\n", "/nothing": "", "/hints": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		}[r.URL.Path])
	})).enter()
	r, err := p.client.Get(p.url("/events"))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(r.Body)
	for range 3 {
		if line, err := in.ReadString('\n'); err != nil || line != "event\n" {
			t.Fatalf("%q %v", line, err)
		}
		next <- true
	}
	r.Body.Close()
	for path, want := range map[string]string{
		"/old": "200 to the end", "/hints": "200 ok", "/tls": "502 The server in the worker did not answer in HTTP/1", "/both": "502 ", "/switch": "502 ", "/nothing": "502 The server in the worker ended",
	} {
		code, text := p.get(p.client, p.url(path))
		if got := fmt.Sprintf("%d %s", code, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A server is told when the browser goes away, and its socket serves another.
func TestBrowserLeaves(t *testing.T) {
	came, left := make(chan bool, 20), make(chan bool, 20)
	p := publishing(t, "tcp4", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			came <- true
			<-r.Context().Done()
			left <- true
		}
	})).enter()
	for range 10 { // more than there are sockets
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", p.url("/wait"), nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { <-came; cancel() }()
		if r, err := p.client.Do(r); err == nil {
			t.Fatalf("%v", r)
		}
		<-left
	}
	if code, _ := p.get(p.client, p.url("/")); code != 200 {
		t.Errorf("%d", code)
	}
}

// Both sides of a WebSocket say what they like after the server agreed.
func TestWebSocket(t *testing.T) {
	p := publishing(t, "tcp4", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Connection") != "Upgrade" {
			w.WriteHeader(400)
			return
		}
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ")
		io.Copy(c, rw)
	}))
	dial := func(fields string) (net.Conn, *bufio.Reader, string) {
		c, err := net.Dial("tcp4", p.ports[0].listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n%s\r\n", p.ports[0].authority, fields)
		in := bufio.NewReader(c)
		line, _ := in.ReadString('\n')
		return c, in, line
	}
	cookie := "Cookie: cordon-entry=" + p.entries.secret + "\r\n"
	c, in, line := dial(cookie + "Origin: http://" + p.ports[0].authority + "\r\n")
	if !strings.Contains(line, " 101 ") {
		t.Fatal(line)
	}
	for line != "\r\n" {
		line, _ = in.ReadString('\n')
	}
	fmt.Fprint(c, "to you")
	c.(*net.TCPConn).CloseWrite()
	if text, err := io.ReadAll(in); err != nil || string(text) != "hello to you" {
		t.Errorf("%q %v", text, err)
	}
	if _, _, line := dial("Origin: http://" + p.ports[0].authority + "\r\n"); !strings.Contains(line, " 403 ") {
		t.Errorf("without the cookie: %q", line)
	}
	if _, _, line := dial(cookie + "Origin: https://evil.example\r\n"); !strings.Contains(line, " 403 ") {
		t.Errorf("of another page: %q", line)
	}
}

// The operator asks at the desk; nothing is there before and after.
func TestDesk(t *testing.T) {
	// The port is taken from the beginning, and nobody listens yet: one that was only picked may be another program's.
	server, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(server)
	if err := unix.Bind(server, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(server)
	if err != nil {
		t.Fatal(err)
	}
	free := at.(*unix.SockaddrInet4).Port
	p := publishingPort(t, free, 2)
	list, err := Ask(p.dir, free)
	if err != nil || len(list) != 1 || list[0].Listening || list[0].Port != free {
		t.Fatalf("%+v %v", list, err)
	}
	if code, text := p.get(p.client, list[0].URL); code != 502 || !strings.Contains(text, fmt.Sprintf("Nothing listens on port %d", free)) {
		t.Errorf("%d %s", code, text)
	}
	if err := unix.Listen(server, 1); err != nil {
		t.Fatal(err)
	}
	if list, err = Ask(p.dir, 0); err != nil || len(list) != 1 || !list[0].Listening {
		t.Errorf("%+v %v", list, err)
	}
	if list, err = Ask(p.dir, free+1); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	p.Close()
	if _, err := Ask(p.dir, 0); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	if _, err := net.Dial("tcp4", p.ports[0].listener.Addr().String()); err == nil {
		t.Error("somebody still listens")
	}
}

// Requests that come in parts, strange requests and many at once end well.
func TestConnections(t *testing.T) {
	p := publishing(t, "tcp4", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })).enter()
	for _, text := range []string{
		"\x16\x03\x01\x02\x00\x01\x00", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\n\x00: x\r\n\r\n", "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: " + p.ports[0].authority + "\r\nCookie: cordon-entry=" + p.entries.secret + "\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 2*maxHead) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp4", p.ports[0].listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text) // it may end before everything is sent
		c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") && len(text) < maxHead {
			t.Errorf("%.30q: %.60q", text, answer)
		}
		c.Close()
	}
	done := make(chan string, 40)
	for range cap(done) { // ten times as many as there are sockets
		go func() {
			code, text := p.get(p.client, p.url("/"))
			done <- fmt.Sprint(code, text)
		}()
	}
	for range cap(done) {
		if got := <-done; got != "200page" && got != "200 page" {
			t.Errorf("%q", got)
		}
	}
}
