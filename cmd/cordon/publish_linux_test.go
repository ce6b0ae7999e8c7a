package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/view"
)

// devServer is a server in a cell: it shows what it is asked, tries to set cookies for other
// names, and echoes what comes over a WebSocket.
const devServer = `
import http.server, socket, sys
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            self.close_connection = True
            while (text := self.rfile.readline()):
                self.wfile.write(b"echo " + text)
            return
        text = ("page of the worker\n" + str(self.headers)).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", "own=1; Domain=localhost")
        self.send_header("Set-Cookie", "cordon-entry=mine")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer.address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Page).serve_forever()
`

// serving is a worker that starts the server when there is a file /tmp/serve.
const serving = `(until test -e /tmp/serve; do sleep 0.02; done; python3 -c "$0" 127.0.0.1 3000 & python3 -c "$0" ::1 3001) & ` + waiting

// browser is a client that leads names below localhost to the loopback, as browsers do.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}
	return &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
}

func fetch(t *testing.T, c *http.Client, address string, fields ...string) (int, string) {
	t.Helper()
	q, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		q.Header.Set(fields[i], fields[i+1])
	}
	r, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// opened is what cordon open says of a port.
func (v *visited) opened(port int) view.Published {
	v.t.Helper()
	var o view.Open
	v.parse(v.cordon([]int{0}, "open", "--json", v.id, fmt.Sprint(port)).out, &o)
	if len(o.Ports) != 1 || o.Ports[0].Port != port || o.Worker != v.id {
		v.t.Fatalf("%+v", o)
	}
	return o.Ports[0]
}

// A server in a worker is seen by the operator's browser and by nobody else: no other user,
// no other cell, no page of another site.
func TestPublish(t *testing.T) {
	for name, network := range map[string]string{"none": "observe: false", "names": "allowed_domains: [api.example.com]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			publishesWith(t, network)
		})
	}
}

// A supervisor that is killed takes its ports with it, and cordon open says what to do.
func TestPublishKilled(t *testing.T) {
	t.Parallel()
	v := newVisited(t, "run", "--no-merge", "--policy", publishing(t, "observe: false"), "--", "sh", "-c", serving, devServer)
	at, err := url.Parse(v.opened(3000).URL)
	if err != nil {
		t.Fatal(err)
	}
	v.signal(syscall.SIGKILL)
	if c, err := net.Dial("tcp4", "127.0.0.1:"+at.Port()); err == nil {
		c.Close()
		t.Error("the port is open after the supervisor's end")
	}
	if o := v.cordon([]int{3}, "open", v.id, "3000"); !strings.Contains(o.err, "is not running: its supervisor exited (cordon resume "+v.id+" continues it)") {
		t.Errorf("%+v", o)
	}
	for _, bad := range []string{"0", "65536", "http", "+3000"} {
		if o := v.cordon([]int{2}, "open", v.id, bad); !strings.Contains(o.err, "is not a port") {
			t.Errorf("%+v", o)
		}
	}
}

// cordon exec --publish prints an address at its start, and nobody without it sees the page.
func TestPublishExec(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if o := s.cordon([]int{2}, "exec", "--publish", "80", "--", "true"); !strings.Contains(o.err, "a worker cannot listen on port 80") {
		t.Errorf("%+v", o)
	}
	r := s.start(nil, "exec", "--publish", "3000", "--", "python3", "-c", devServer, "127.0.0.1", "3000")
	address := ""
	r.await("the address is printed", func() bool {
		_, rest, _ := strings.Cut(r.errs.String(), "cordon: port 3000: ")
		line, _, whole := strings.Cut(rest, "\n")
		address = line
		return whole
	})
	client, code, text := browser(t), 0, ""
	r.await("the page is served", func() bool { code, text = fetch(t, client, address); return code == 200 })
	if !strings.HasPrefix(text, "page of the worker\n") {
		t.Errorf("%d %s", code, text)
	}
	refusesOthers(t, client, address)
}

// publishing is the file of a policy that publishes two ports.
func publishing(t *testing.T, network string) string {
	t.Helper()
	file := t.TempDir() + "/publish.yaml"
	if err := os.WriteFile(file, []byte("version: 1\nnetwork: {publish: [3000, 3001], "+network+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func publishesWith(t *testing.T, network string) {
	t.Helper()
	v := newVisited(t, "run", "--no-merge", "--policy", publishing(t, network), "--", "sh", "-c", serving, devServer)
	if text := v.cordon([]int{0}, "show", v.id).out; !strings.Contains(text, "ports 3000, 3001 while it runs; cordon open "+v.id) {
		t.Errorf("show: %s", text)
	}
	o := v.cordon([]int{0}, "open", v.id, "3000")
	if o.err != "nothing listens on port 3000 in "+v.id+" yet\n" || !strings.HasPrefix(o.out, "http://"+v.id+"-") {
		t.Errorf("%+v", o)
	}
	early := browser(t)
	if code, text := fetch(t, early, strings.TrimSpace(o.out)); code != 502 || !strings.Contains(text, "Nothing listens on port 3000") {
		t.Errorf("%d %s", code, text)
	}
	if o := v.cordon([]int{3}, "open", v.id, "4000"); !strings.Contains(o.err, "does not publish port 4000: its lease names ports 3000, 3001") {
		t.Errorf("%+v", o)
	}
	v.await("the server is told to start", func() bool { return v.inside("touch", "/tmp/serve").code == 0 })
	for _, port := range []int{3000, 3001} {
		v.await(fmt.Sprintf("something listens on port %d", port), func() bool { return v.opened(port).Listening })
		client := browser(t)
		address := v.opened(port).URL
		for range 2 { // the second time it has the cookie
			code, text := fetch(t, client, address)
			if code != 200 || !strings.HasPrefix(text, "page of the worker\n") || strings.Contains(text, "cordon-entry") {
				t.Errorf("%d: %d %s", port, code, text)
			}
		}
		refusesOthers(t, client, address)
	}
	echoes(t, v.opened(3000).URL)
	v.onlyOperator(v.opened(3000).URL)
	at, err := url.Parse(v.opened(3000).URL)
	if err != nil {
		t.Fatal(err)
	}
	v.stop()
	if c, err := net.Dial("tcp4", "127.0.0.1:"+at.Port()); err == nil {
		c.Close()
		t.Error("the port is open after the worker's end")
	}
	if o := v.cordon([]int{3}, "open", v.id); !strings.Contains(o.err, "is not running: its ports were published while it ran") {
		t.Errorf("%+v", o)
	}
}

// refusesOthers asks as pages of other sites would, with and without the cookie.
func refusesOthers(t *testing.T, entered *http.Client, address string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	page := "http://" + at.Host + "/"
	jar := entered.Jar.Cookies(at)
	if len(jar) != 2 { // ours, and that of the page
		t.Errorf("the browser has %v", jar)
	}
	if other, err := url.Parse("http://localhost:" + at.Port()); err != nil || len(entered.Jar.Cookies(other)) > 0 {
		t.Errorf("localhost gets %v %v", entered.Jar.Cookies(other), err)
	}
	if code, _ := fetch(t, entered, page); code != 200 {
		t.Errorf("the control: %d", code)
	}
	for _, fields := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Origin", "http://localhost:" + at.Port()}, {"Origin", "null"},
	} {
		if code, _ := fetch(t, entered, page, fields...); code != 403 {
			t.Errorf("%q: %d", fields, code)
		}
	}
	stranger := browser(t)
	if code, _ := fetch(t, stranger, address); code != 403 {
		t.Errorf("a used address: %d", code)
	}
	if code, _ := fetch(t, stranger, "http://rebound.example:"+at.Port()+"/"); code != 421 {
		t.Errorf("another name: %d", code)
	}
}

// echoes talks over a WebSocket.
func echoes(t *testing.T, address string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	client := browser(t)
	fetch(t, client, address)
	c, err := net.Dial("tcp4", "127.0.0.1:"+at.Port())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /hot HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://%s\r\n", at.Host, at.Host)
	for _, k := range client.Jar.Cookies(at) {
		fmt.Fprintf(c, "Cookie: %s=%s\r\n", k.Name, k.Value)
	}
	fmt.Fprint(c, "\r\n")
	in := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(c, word)
		if line, err := in.ReadString('\n'); err != nil || line != "echo "+word+"\n" {
			t.Errorf("%q %v", line, err)
		}
	}
}

// askPort asks a published port for its page and prints the first line of the answer.
const askPort = `exec 3<>/dev/tcp/127.0.0.1/$1 && printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$3" "$2" >&3 && head -n 1 <&3`

// onlyOperator asks as another user, and from other cells.
func (v *visited) onlyOperator(address string) {
	v.t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		v.t.Fatal(err)
	}
	ask := func(before ...string) string {
		argv := append(before, "bash", "-c", askPort, "bash", at.Port(), at.Host, "/")
		o := v.try(v.process(argv[0], argv[1:]...))
		return o.out
	}
	if text := ask(); !strings.HasPrefix(text, "HTTP/1.1 403 ") {
		v.t.Errorf("the control: %q", text)
	}
	if os.Getuid() == 0 {
		if _, err := exec.LookPath("setpriv"); err != nil {
			v.t.Fatal(err)
		}
		if text := ask("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"); !strings.HasPrefix(text, "HTTP/1.1 403 ") {
			v.t.Errorf("another user: %q", text)
		}
	}
	if text := ask("cordon", "exec", "--"); text != "" {
		v.t.Errorf("another cell: %q", text)
	}
	if text := ask("cordon", "exec", "--policy", v.write("reach.yaml", "version: 1\nnetwork: {allowed_domains: [api.example.com]}\n"), "--"); text != "" {
		v.t.Errorf("a cell with a network: %q", text)
	}
	if o := v.inside("bash", "-c", askPort, "bash", at.Port(), at.Host, "/"); o.out != "" {
		v.t.Errorf("the worker itself: %q", o.out)
	}
}
