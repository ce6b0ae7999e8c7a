package deskweb

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// told is what a screen of the test shows. Nobody without a bearer token may see it.
const told = "the worker's secret"

// fake is a source whose changes the test makes.
type fake struct{ changes chan struct{} }

func (f fake) Screen(_ context.Context, w io.Writer, path string, query url.Values) error {
	if path != "/" && path != "/worker/brisk-otter" {
		return ErrNoScreen
	}
	_, err := fmt.Fprintf(w, "<!doctype html><title>desk</title><p>%s %s", told, query.Get("q"))
	return err
}

func (f fake) Changes(context.Context) (<-chan struct{}, error) { return f.changes, nil }

// desk is a server that runs until the end of the test.
func desk(t *testing.T) (*Server, fake) {
	t.Helper()
	source := fake{make(chan struct{}, 1)}
	return serving(t, source), source
}

// serving serves a source until the end of the test.
func serving(t testing.TB, source Source) *Server {
	t.Helper()
	s, err := Open(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return s
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   string
}

// raw sends a request as it is written, to an address of the loopback.
func raw(t *testing.T, s *Server, at, text string) answer {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort(at, strconv.Itoa(s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n"))
	method, _, _ := strings.Cut(text, " ")
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{r.StatusCode, r.Header, string(body)}
}

// request is the text of one, with HOST for the desk's own name.
func request(s *Server, method, path, body string, lines ...string) string {
	text := method + " " + path + " HTTP/1.1\n"
	if body != "" {
		lines = append(lines, "Content-Length: "+strconv.Itoa(len(body)))
	}
	return strings.ReplaceAll(text+strings.Join(append(lines, "Connection: close"), "\n")+"\n\n"+body, "HOST", s.host)
}

// token is the one-time token of a new link.
func token(t *testing.T, s *Server) string {
	t.Helper()
	link, err := url.Parse(s.Link())
	if err != nil || link.Host != s.host || len(link.Fragment) != 32 || link.RawQuery != "" {
		t.Fatal(link, err)
	}
	return link.Fragment
}

// entered is the bearer token of a page that was opened as it should be.
func entered(t *testing.T, s *Server) string {
	t.Helper()
	a := raw(t, s, "127.0.0.1", request(s, "POST", "/session", `{"token":"`+token(t, s)+`"}`,
		"Host: HOST", "Origin: http://HOST", "Sec-Fetch-Site: same-origin", "Content-Type: application/json"))
	var got struct{ Bearer string }
	if err := json.Unmarshal([]byte(a.body), &got); a.code != 200 || err != nil || len(got.Bearer) != 32 {
		t.Fatal(a, err)
	}
	return got.Bearer
}

// harmless checks what holds of every answer, whatever was asked.
func harmless(t *testing.T, a answer) {
	t.Helper()
	for name, want := range headers {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" || name == "Server" {
			t.Errorf("the answer has %s", name)
		}
	}
}

// TestAttacks is the table of what other pages, other names and other programs try.
func TestAttacks(t *testing.T) {
	s, _ := desk(t)
	bearer := "Authorization: Bearer " + entered(t, s)
	port := strconv.Itoa(s.Port())
	json := "Content-Type: application/json"
	own := []string{"Host: HOST", "Origin: http://HOST", "Sec-Fetch-Site: same-origin"}
	for _, c := range []struct {
		name, method, path, body string
		lines                    []string
		want                     int
	}{
		// Names: rebinding, and what only begins or ends like a name of this machine.
		{"rebinding", "GET", "/screen/", "", []string{"Host: rebind.evil.test:" + port, bearer}, 421},
		{"rebinding, the page", "GET", "/", "", []string{"Host: rebind.evil.test:" + port}, 421},
		{"rebinding, the script", "GET", "/desk.js", "", []string{"Host: rebind.evil.test:" + port}, 421},
		{"rebinding, a POST", "POST", "/session", "{}", []string{"Host: rebind.evil.test:" + port, json}, 421},
		{"127.evil.com", "GET", "/", "", []string{"Host: 127.evil.com:" + port}, 421},
		{"localhost", "GET", "/", "", []string{"Host: localhost:" + port}, 421},
		{"the address", "GET", "/", "", []string{"Host: 127.0.0.1:" + port}, 421},
		{"the other address", "GET", "/", "", []string{"Host: [::1]:" + port}, 421},
		{"another desk", "GET", "/", "", []string{"Host: desk-0123456789abcdef.localhost:" + port}, 421},
		{"another port", "GET", "/", "", []string{"Host: " + strings.TrimSuffix(s.host, port) + "1"}, 421},
		{"no port", "GET", "/", "", []string{"Host: " + strings.TrimSuffix(s.host, ":"+port)}, 421},
		{"a dot at the end", "GET", "/", "", []string{"Host: " + strings.TrimSuffix(s.host, ":"+port) + ".:" + port}, 421},
		{"capital letters", "GET", "/", "", []string{"Host: " + strings.ToUpper(s.host)}, 421},
		{"below the name", "GET", "/", "", []string{"Host: x.HOST"}, 421},
		{"no name", "GET", "/", "", nil, 400},
		{"two names", "GET", "/", "", []string{"Host: HOST", "Host: evil.test"}, 400},
		{"an address in the request line", "GET", "http://evil.test/", "", []string{"Host: HOST"}, 421},
		{"the own address in the request line", "GET", "http://HOST/screen/", "", []string{"Host: evil.test", bearer}, 421},

		// Other pages.
		{"a page of another port asks for a screen", "GET", "/screen/", "", []string{"Host: HOST", bearer, "Sec-Fetch-Site: cross-site"}, 403},
		{"a sibling asks for a screen", "GET", "/screen/", "", []string{"Host: HOST", bearer, "Sec-Fetch-Site: same-site"}, 403},
		{"another origin asks for a screen", "GET", "/screen/", "", []string{"Host: HOST", bearer, "Origin: http://localhost:3000"}, 403},
		{"a frame", "GET", "/", "", []string{"Host: HOST", "Sec-Fetch-Dest: iframe", "Sec-Fetch-Site: cross-site"}, 403},
		{"an object", "GET", "/worker/brisk-otter", "", []string{"Host: HOST", "Sec-Fetch-Dest: object"}, 403},
		{"another page loads the script", "GET", "/desk.js", "", []string{"Host: HOST", "Sec-Fetch-Site: cross-site"}, 403},
		{"preflight", "OPTIONS", "/screen/", "", []string{"Host: HOST", "Origin: http://evil.test", "Access-Control-Request-Method: GET"}, 405},
		{"preflight of everything", "OPTIONS", "*", "", []string{"Host: HOST"}, 421},
		{"other methods", "DELETE", "/", "", []string{"Host: HOST", bearer}, 405},
		{"HEAD", "HEAD", "/", "", []string{"Host: HOST"}, 405},
		{"a blind POST of another port", "POST", "/session", "{}", []string{"Host: HOST", json, "Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: cross-site"}, 403},
		{"a POST of no origin", "POST", "/session", "{}", []string{"Host: HOST", json, "Origin: null"}, 403},
		{"a POST with two origins", "POST", "/session", "{}", []string{"Host: HOST", json, "Origin: http://HOST", "Origin: http://evil.test"}, 403},
		{"a POST of a sibling", "POST", "/session", "{}", []string{"Host: HOST", json, "Origin: http://HOST", "Sec-Fetch-Site: same-site"}, 403},
		{"https of the same name", "POST", "/session", "{}", []string{"Host: HOST", json, "Origin: https://HOST"}, 403},
		{"text/plain", "POST", "/session", "{}", append(own, "Content-Type: text/plain"), 415},
		{"a form", "POST", "/session", "token=1", append(own, "Content-Type: application/x-www-form-urlencoded"), 415},
		{"a form with a file", "POST", "/session", "--x--", append(own, "Content-Type: multipart/form-data; boundary=x"), 415},
		{"no type", "POST", "/session", "{}", own, 415},
		{"json in the wrong place", "POST", "/session", "{}", append(own, "Content-Type: text/plain; application/json"), 415},
		{"a WebSocket", "GET", "/events", "", []string{"Host: HOST", bearer, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="}, 400},

		// Tokens.
		{"no token", "GET", "/screen/", "", []string{"Host: HOST"}, 401},
		{"no token for events", "GET", "/events", "", []string{"Host: HOST"}, 401},
		{"a wrong token", "GET", "/screen/", "", []string{"Host: HOST", "Authorization: Bearer " + strings.Repeat("0", 32)}, 401},
		{"an empty token", "GET", "/screen/", "", []string{"Host: HOST", "Authorization: Bearer "}, 401},
		{"another scheme", "GET", "/screen/", "", []string{"Host: HOST", strings.Replace(bearer, "Bearer", "Basic", 1)}, 401},
		{"a token in the address", "GET", "/screen/?token=" + strings.TrimPrefix(bearer, "Authorization: Bearer "), "", []string{"Host: HOST"}, 401},
		{"a token in a cookie", "GET", "/screen/", "", []string{"Host: HOST", "Cookie: desk=" + strings.TrimPrefix(bearer, "Authorization: Bearer ")}, 401},
		{"a wrong one-time token", "POST", "/session", `{"token":"` + strings.Repeat("0", 32) + `"}`, append(own, json), 403},
		{"no one-time token", "POST", "/session", `{}`, append(own, json), 403},
		{"more than a token", "POST", "/session", `{"token":"","x":1}`, append(own, json), 400},
		{"no JSON", "POST", "/session", `token`, append(own, json), 400},
		{"a POST without a bearer", "POST", "/screen/", `{}`, append(own, json), 401},
		{"a note without a bearer", "POST", "/note", `{}`, append(own, json), 401},
		{"a note of another port", "POST", "/note", `{}`, []string{"Host: HOST", json, bearer, "Origin: http://127.0.0.1:3000"}, 403},
		{"nothing is decided here", "POST", "/worker/brisk-otter/merge", `{}`, append(own, json, bearer), 404},

		// Paths.
		{"no such page", "GET", "/etc/passwd", "", []string{"Host: HOST"}, 404},
		{"below a page", "GET", "/worker/a/b", "", []string{"Host: HOST"}, 404},
		{"above the root", "GET", "/../../etc/passwd", "", []string{"Host: HOST"}, 404},
		{"no such screen", "GET", "/screen/worker/none", "", []string{"Host: HOST", bearer}, 404},

		// The control: this is how the page asks.
		{"the page", "GET", "/", "", []string{"Host: HOST", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"}, 200},
		{"a link on another page", "GET", "/", "", []string{"Host: HOST", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: cross-site"}, 200},
		{"a worker's page", "GET", "/worker/brisk-otter", "", []string{"Host: HOST"}, 200},
		{"its script", "GET", "/desk.js", "", []string{"Host: HOST", "Sec-Fetch-Site: same-origin"}, 200},
		{"its style", "GET", "/desk.css", "", []string{"Host: HOST", "Sec-Fetch-Site: same-origin"}, 200},
		{"a screen", "GET", "/screen/", "", []string{"Host: HOST", bearer, "Sec-Fetch-Site: same-origin"}, 200},
		{"curl", "GET", "/screen/worker/brisk-otter", "", []string{"Host: HOST", bearer}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := raw(t, s, "127.0.0.1", request(s, c.method, c.path, c.body, c.lines...))
			if a.code != c.want {
				t.Errorf("%d, want %d: %s", a.code, c.want, a.body)
			}
			if a.code != 400 || c.name == "a WebSocket" { // those before are of net/http, which has no handler yet
				harmless(t, a)
			}
			if seen, may := strings.Contains(a.body, told), c.want == 200 && strings.HasPrefix(c.path, "/screen/"); seen != may {
				t.Errorf("the answer shows a screen: %v", seen)
			}
		})
	}
}

// A one-time token is good once, for a minute, and for one desk.
func TestOneTimeToken(t *testing.T) {
	s, _ := desk(t)
	other, _ := desk(t)
	now := time.Now()
	s.keys.now = func() time.Time { return now }
	enter := func(s *Server, token string) int {
		a := raw(t, s, "127.0.0.1", request(s, "POST", "/session", `{"token":"`+token+`"}`, "Host: HOST", "Content-Type: application/json"))
		harmless(t, a)
		return a.code
	}
	first, second, late := token(t, s), token(t, s), token(t, s)
	for _, c := range []struct {
		what  string
		s     *Server
		token string
		after time.Duration
		want  int
	}{
		{"at another desk", other, first, 0, 403},
		{"the first use", s, first, 0, 200},
		{"the second use", s, first, 0, 403},
		{"shortly before its end", s, second, inviteTime - time.Second, 200},
		{"after a minute", s, late, time.Second, 403},
		{"after that", s, late, -inviteTime, 403},
	} {
		now = now.Add(c.after)
		if got := enter(c.s, c.token); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

// The desk listens on the loopback and nowhere else, on both of its addresses.
func TestListensOnLoopback(t *testing.T) {
	s, _ := desk(t)
	for _, l := range s.listen {
		if at := l.Addr().(*net.TCPAddr); !at.IP.IsLoopback() || at.Port != s.Port() {
			t.Errorf("it listens on %s", at)
		}
	}
	for _, l := range s.listen {
		a := raw(t, s, l.Addr().(*net.TCPAddr).IP.String(), request(s, "GET", "/", "", "Host: HOST"))
		if harmless(t, a); a.code != 200 || !strings.Contains(a.body, "cordon desk") || strings.Contains(a.body, told) {
			t.Error(a)
		}
	}
}

// A port that somebody has on ::1, or that a lease names, is not taken.
func TestAvoidsPorts(t *testing.T) {
	var refused []int
	s, err := Open(fake{}, func(port int) bool { refused = append(refused, port); return len(refused) < 4 })
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.listen {
		l.Close()
	}
	if len(refused) < 4 || s.Port() != refused[len(refused)-1] {
		t.Errorf("it took %d after %v", s.Port(), refused)
	}
	if _, err := Open(fake{}, func(int) bool { return true }); err == nil {
		t.Error("it took a port that it should avoid")
	}
}

// A page is told of a change, and the stream ends with the desk.
func TestEvents(t *testing.T) {
	s, source := desk(t)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /events HTTP/1.1\r\nHost: "+s.host+"\r\nAuthorization: Bearer "+entered(t, s)+"\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(r, err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	next := func() string {
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok && name != "beat" {
				return name
			}
		}
		return "end"
	}
	if got := next(); got != "open" {
		t.Fatal(got)
	}
	source.changes <- struct{}{}
	if got := next(); got != "change" {
		t.Fatal(got)
	}
	s.done()
	if got := next(); got != "end" {
		t.Fatal(got)
	}
}

// The page has one script and one style of its own, and nothing inline. The script is small, makes
// no markup of text, and names no other place.
func TestPage(t *testing.T) {
	if n := len(script); n > 15<<10 {
		t.Errorf("the script has %d bytes", n)
	}
	if strings.Contains(string(script), "cookie") {
		t.Error("the script knows cookies")
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment", "setHTML",
		"eval(", "new Function", "import(", "localStorage", "http:", "https:", "//cdn"} {
		if strings.Contains(string(script), word) {
			t.Errorf("the script has %s", word)
		}
	}
	inline := regexp.MustCompile(`(?i)<style|style=|\son\w+=|javascript:|<script>`)
	for name, text := range map[string]string{"shell.html": string(shell), "icon.svg": string(icon)} {
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s has %s", name, found)
		}
	}
	if text, err := os.ReadFile("assets/desk.css"); err != nil || regexp.MustCompile(`(?i)@import|url\(|expression`).Match(text) {
		t.Error("the style loads something", err)
	}
}

// The browser lets the page load its own things and ask its own server, and takes no text for markup or code.
func TestContentPolicy(t *testing.T) {
	s, _ := desk(t)
	a := raw(t, s, "127.0.0.1", request(s, "GET", "/", "", "Host: HOST"))
	has := map[string]string{}
	for directive := range strings.SplitSeq(a.header.Get("Content-Security-Policy"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		has[name] = value
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "connect-src": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
		"require-trusted-types-for": "'script'", "trusted-types": "'none'",
	} {
		if has[name] != want {
			t.Errorf("%s is %q", name, has[name])
		}
	}
}
