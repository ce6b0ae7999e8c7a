package deskweb

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cordon/internal/testbrowser"
	"cordon/internal/testwait"
)

// arrival is a request and how it was answered.
type arrival struct {
	what string // METHOD PATH CODE
	own  bool   // the browser says that the desk's own page asked; no other page can say so
}

// watched serves a desk and remembers what arrived.
type watched struct {
	*Server
	handler http.Handler
	source  *sample

	mu   sync.Mutex
	seen []arrival
	sets []string // cookies that an answer set
}

// recorder remembers the code of an answer.
type recorder struct {
	http.ResponseWriter
	code int
}

func (r *recorder) WriteHeader(code int) { r.code = code; r.ResponseWriter.WriteHeader(code) }

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (w *watched) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	rec, own := &recorder{to, 200}, r.Header.Get("Sec-Fetch-Site") == "same-origin"
	w.handler.ServeHTTP(rec, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, arrival{fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, rec.code), own})
	w.sets = append(w.sets, to.Header().Values("Set-Cookie")...)
}

// arrived forgets and tells what arrived since the last call.
func (w *watched) arrived() []arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.seen
	w.seen = nil
	return list
}

// watch serves the sample behind something that watches, with or without its defences.
func watch(t *testing.T, defended bool) *watched {
	t.Helper()
	source := newSample()
	s, err := Open(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Server: s, handler: s, source: source}
	if !defended {
		w.handler = undefend(s)
	}
	web := &http.Server{Handler: w}
	for _, l := range s.listen {
		go web.Serve(l)
	}
	t.Cleanup(func() { s.done(); web.Close() })
	return w
}

// arena is a desk, a browser with the desk's own page, and a page of somebody else's on another port.
type arena struct {
	*watched
	t          *testing.T
	browser    *testbrowser.Browser
	own, other *testbrowser.Tab
	evil       string // the port of somebody else's server
	told       chan string
}

// newArena opens the desk in a browser, beside somebody else's page.
func newArena(t *testing.T, defended bool) *arena {
	t.Helper()
	a := &arena{watched: watch(t, defended), t: t, told: make(chan string, 1000)}
	evil := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		a.told <- r.Header.Get("Cookie") + r.Header.Get("Authorization")
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Access-Control-Allow-Origin", "*") // it wants to be reached
		fmt.Fprint(to, "<title>evil</title><body>evil")
	}))
	t.Cleanup(evil.Close)
	_, a.evil, _ = net.SplitHostPort(strings.TrimPrefix(evil.URL, "http://"))
	a.browser = testbrowser.Start(t, "host-resolver-rules=MAP *.evil.test 127.0.0.1, MAP *.evil.com 127.0.0.1")
	a.own, a.other = a.browser.Tab(), a.browser.Tab()
	enter(a.Server, a.own)
	visit(a.Server, a.own, "/worker/famed-curlew")
	return a
}

// fill puts the names of the arena into a script or an address.
func (a *arena) fill(text string) string {
	return strings.NewReplacer("DESK", "http://"+a.host, "HOST", a.host, "PORT", fmt.Sprint(a.Port()), "EVIL", a.evil, "DECISION", decision,
		"TOKEN", token(a.t, a.Server)).Replace(text)
}

// decision is what an attacker would like to decide.
const decision = `{"worker":"famed-curlew","choice":"discard","seen":"2.quarantined.0.466b3d26"}`

// attack is something that another page tries. It returns what it came to know.
type attack struct {
	name, script string
	won          func(a *arena, got string) bool
}

func knows(text string) func(*arena, string) bool {
	return func(_ *arena, got string) bool { return strings.Contains(got, text) }
}

// decides is an attack that wants a decision of the desk's.
func decides(a *arena, _ string) bool { return len(a.source.taken()) > 0 }

// answers is an attack that wants an answer of the desk's.
func answers(what string) func(*arena, string) bool {
	return func(a *arena, _ string) bool {
		for _, one := range a.arrived() {
			if one.what == what {
				return true
			}
		}
		return false
	}
}

// ofPages are the attacks of a page on another port of this machine.
var ofPages = []attack{
	{"reads a screen", `const r = await fetch("DESK/screen/"); return await r.text()`, knows("famed-curlew")},
	{"reads the page", `const r = await fetch("DESK/"); return await r.text()`, knows("desk.js")},
	{"JSON", `await fetch("DESK/decide", {method: "POST", headers: {"Content-Type": "application/json"}, body: 'DECISION'}); return ""`, decides},
	{"a blind POST", `await fetch("DESK/decide", {method: "POST", mode: "no-cors", credentials: "include", body: 'DECISION'}); return ""`, decides},
	{"text/plain", `await fetch("DESK/decide", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: 'DECISION'}); return ""`, decides},
	{"a session", `await fetch("DESK/session", {method: "POST", mode: "no-cors", body: '{"token":"TOKEN"}'}); return ""`, answers("POST /session 200")},
	{"a beacon", `navigator.sendBeacon("DESK/decide", 'DECISION'); await fetch("DESK/", {mode: "no-cors"}); return ""`, decides},
	{"a WebSocket", `return await new Promise(done => { const s = new WebSocket("ws://HOST/events"); s.onopen = () => done("open"); s.onerror = () => done("refused") })`, knows("open")},
	{"a frame", `const f = document.createElement("iframe"); f.src = "DESK/"; document.body.append(f); await new Promise(done => { f.onload = done; f.onerror = done }); return ""`,
		answers("GET /desk.js 200")},
	{"the script", `return await new Promise(done => { const s = document.createElement("script"); s.src = "DESK/desk.js"; s.onload = () => done("loaded");
		s.onerror = () => done("refused"); document.body.append(s) })`, knows("loaded")},
	{"a form of text", form("text/plain", `{"worker":"famed-curlew","choice":"discard","seen":"2.quarantined.0.466b3d26","text":"`, `"}`), decides},
	{"a form", form("application/x-www-form-urlencoded", "worker", "famed-curlew"), decides},
	{"a form with files", form("multipart/form-data", "worker", "famed-curlew"), decides},
}

// form is a script that sends a form into a frame, and waits until the frame has what came of it.
func form(kind, name, value string) string {
	return fmt.Sprintf(`const i = document.createElement("iframe"); i.name = "to"; document.body.append(i);
		const f = document.createElement("form"); f.method = "post"; f.enctype = %q; f.action = "DESK/decide"; f.target = "to";
		const n = document.createElement("input"); n.name = %q; n.value = %q; f.append(n); document.body.append(f);
		await new Promise(done => { i.onload = done; f.submit() }); return ""`, kind, name, value)
}

// run runs a script in somebody else's page, and tells whether the attack succeeded.
func (a *arena) run(t *testing.T, page string, one attack) bool {
	t.Helper()
	a.other.Open(a.fill(page))
	a.other.Until(`document.title === "evil"`)
	a.forget()
	got := testbrowser.Eval[string](a.other, `(async () => { try { `+a.fill(one.script)+` } catch (e) { return "" } })()`)
	if a.handler != a.Server { // a beacon may come late
		testwait.Until(t, one.name+" succeeds without defences", func() bool { return one.won(a, got) })
		return true
	}
	return one.won(a, got)
}

// forget forgets what happened before.
func (a *arena) forget() {
	a.arrived()
	a.source.mu.Lock()
	defer a.source.mu.Unlock()
	a.source.decided = nil
}

// names are those under which another page can reach the port of a desk.
var names = []string{"rebind.evil.test", "127.evil.com", "localhost", "127.0.0.1", "[::1]", "dev.localhost", "desk-0123456789abcdef.localhost"}

// rebind opens the desk under another name, and tells what a script of that page can read.
func (a *arena) rebind(name string) string {
	a.other.Open(a.fill("http://" + name + ":PORT/"))
	return testbrowser.Eval[string](a.other, `fetch("/screen/").then(r => r.text(), e => "") `)
}

// second is what a second tab shows that opens the same link.
func (a *arena) second() string {
	link := a.Link()
	first, second := a.browser.Tab(), a.browser.Tab()
	for _, p := range []*testbrowser.Tab{first, second} {
		p.Open(link)
		p.Until(`document.querySelector("header, main")`)
		if at := testbrowser.Eval[string](p, "location.href + JSON.stringify(history.state)"); strings.Contains(at, link[strings.Index(link, "#")+1:]) {
			a.t.Error("the token stays in the address")
		}
	}
	return testbrowser.Eval[string](second, "document.body.innerText")
}

// sent are the cookies and keys that somebody else's server was sent.
func (a *arena) sent() (all string) {
	a.other.Open(a.fill("http://127.0.0.1:PORT/"))
	a.other.Open(a.fill("http://127.0.0.1:EVIL/"))
	for len(a.told) > 0 {
		all += <-a.told
	}
	return all
}

// inside are what a text that got into the desk's own page could do there.
var inside = map[string]string{
	"reach another server": `fetch("http://127.0.0.1:EVIL/").then(r => r.text(), e => "").then(t => t.includes("evil") ? "done" : "")`,
	"make markup of text":  `(() => { try { document.body.append(document.createElement("p")); document.querySelector("p:last-child").innerHTML = "<b>x</b>"; return "done" } catch (e) { return "" } })()`,
	"run a script":         `(() => { try { const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.body.append(s); return window.ran ? "done" : "" } catch (e) { return "" } })()`,
}

// Attacks of other pages in the same browser, as the browser really makes them: each fails at the desk, and each succeeds at
// a desk without its defences.
func TestBrowserAttacks(t *testing.T) {
	for _, defended := range []bool{false, true} {
		a := newArena(t, defended)
		kind := map[bool]string{true: "the desk", false: "control"}[defended]
		check := func(t *testing.T, what string, succeeded bool) {
			t.Helper()
			if succeeded == defended {
				t.Errorf("%s: %s succeeded: %v", kind, what, succeeded)
			}
		}
		t.Run(kind+"/names", func(t *testing.T) {
			for _, name := range names {
				a.forget()
				check(t, name, strings.Contains(a.rebind(name), "famed-curlew"))
				for _, one := range a.arrived() {
					if defended && !strings.HasSuffix(one.what, " 421") && !one.own {
						t.Errorf("%s: %s", name, one.what)
					}
				}
			}
		})
		for _, one := range ofPages {
			t.Run(kind+"/"+one.name, func(t *testing.T) {
				pages := []string{"http://127.0.0.1:EVIL", "http://localhost:EVIL", "http://dev.localhost:EVIL"}
				for _, page := range pages {
					check(t, one.name+" of "+page, a.run(t, page, one))
				}
				for _, got := range a.arrived() {
					if code := got.what[strings.LastIndex(got.what, " ")+1:]; defended && !got.own && code < "400" {
						t.Errorf("%s: %s", one.name, got.what)
					}
				}
			})
		}
		t.Run(kind+"/a token twice", func(t *testing.T) { check(t, "the second use", !strings.Contains(a.second(), "This page has no key")) })
		t.Run(kind+"/development server", func(t *testing.T) { check(t, "another port of this machine", a.sent() != "") })
		t.Run(kind+"/markup", func(t *testing.T) {
			a.source.say = func(string) string { return `<img id="planted" src="/icon.svg">` }
			visit(a.Server, a.own, "/worker/famed-curlew")
			check(t, "a text", testbrowser.Eval[bool](a.own, `!!document.querySelector("#planted")`))
			a.source.say = nil
		})
		for what, script := range inside {
			t.Run(kind+"/"+what, func(t *testing.T) {
				visit(a.Server, a.own, "/worker/famed-curlew")
				check(t, what, testbrowser.Eval[string](a.own, a.fill(script)) == "done")
			})
		}
		if defended {
			a.ownPage(t)
		}
	}
}

// ownPage is the control of the other kind: the desk's own page can do what the others cannot, with its key.
func (a *arena) ownPage(t *testing.T) {
	t.Helper()
	a.forget()
	visit(a.Server, a.own, "/worker/famed-curlew")
	if got := testbrowser.Eval[string](a.own, `document.cookie`); got != "" || len(a.sets) != 0 {
		t.Errorf("the page has a cookie: %q, %q", got, a.sets)
	}
	ask := `fetch("/decide", {method: "POST", headers: {"Content-Type": "application/json"%s}, body: '` + decision + `'}).then(r => String(r.status))`
	if got := testbrowser.Eval[string](a.own, fmt.Sprintf(ask, "")); got != "401" || decides(a, "") {
		t.Errorf("without its key the page decides: %s", got)
	}
	if got := testbrowser.Eval[string](a.own, fmt.Sprintf(ask, `, Authorization: "Bearer " + sessionStorage.getItem("desk")`)); got != "200" || !decides(a, "") {
		t.Errorf("the page cannot decide: %s", got)
	}
}
