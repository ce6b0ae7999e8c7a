package deskweb

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"cordon/internal/testbrowser"
)

// reading is a desk for browsers without scripts that runs until the end of the test, and its key.
func reading(t testing.TB, source Source) (*Server, string) {
	t.Helper()
	s, key, err := OpenReader(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return s, key
}

func password(key string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+key))
}

// A desk for browsers without scripts shows whole screens to the one who has its key, and does nothing else: not for
// another page, though the browser sends the key with that page's requests, too.
func TestReader(t *testing.T) {
	s, key := reading(t, fake{make(chan struct{}, 1)})
	basic, json := password(key), "Content-Type: application/json"
	for _, c := range []struct {
		name, method, path, body string
		lines                    []string
		want                     int
	}{
		{"no key", "GET", "/", "", []string{"Host: HOST"}, 401},
		{"a wrong key", "GET", "/", "", []string{"Host: HOST", password(strings.Repeat("0", 32))}, 401},
		{"an empty key", "GET", "/", "", []string{"Host: HOST", password("")}, 401},
		{"the key as a bearer token", "GET", "/", "", []string{"Host: HOST", "Authorization: Bearer " + key}, 401},
		{"the key in the address", "GET", "/?key=" + key, "", []string{"Host: HOST"}, 401},
		{"the key in a cookie", "GET", "/", "", []string{"Host: HOST", "Cookie: key=" + key}, 401},
		{"another name", "GET", "/", "", []string{"Host: rebind.evil.test", basic}, 421},
		{"a link on another page", "GET", "/", "", []string{"Host: HOST", basic, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document"}, 403},
		{"a sibling", "GET", "/", "", []string{"Host: HOST", basic, "Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: document"}, 403},
		{"a frame", "GET", "/", "", []string{"Host: HOST", basic, "Sec-Fetch-Dest: iframe"}, 403},
		{"an image", "GET", "/worker/brisk-otter", "", []string{"Host: HOST", basic, "Sec-Fetch-Dest: image", "Sec-Fetch-Site: cross-site"}, 403},
		{"a script asks", "GET", "/", "", []string{"Host: HOST", basic, "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin"}, 403},
		{"a WebSocket", "GET", "/", "", []string{"Host: HOST", basic, "Connection: Upgrade", "Upgrade: websocket"}, 400},
		{"the screens of the script", "GET", "/screen/", "", []string{"Host: HOST", basic}, 404},
		{"its events", "GET", "/events", "", []string{"Host: HOST", basic}, 404},
		{"a session", "POST", "/session", "{}", []string{"Host: HOST", basic, json}, 405},
		{"a decision", "POST", "/decide", "{}", []string{"Host: HOST", basic, json}, 405},
		{"a decision of a form", "POST", "/decide", "choice=merge", []string{"Host: HOST", "Origin: http://HOST", basic, "Content-Type: application/x-www-form-urlencoded"}, 405},
		{"preflight", "OPTIONS", "/", "", []string{"Host: HOST", "Origin: http://evil.test"}, 405},
		{"no such screen", "GET", "/worker/none", "", []string{"Host: HOST", basic}, 404},
		{"the style", "GET", "/desk.css", "", []string{"Host: HOST", "Sec-Fetch-Site: same-origin"}, 200},

		// The control: this is how a browser and curl ask.
		{"the desk", "GET", "/", "", []string{"Host: HOST", basic, "Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"}, 200},
		{"a link of its own", "GET", "/worker/brisk-otter", "", []string{"Host: HOST", basic, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: document"}, 200},
		{"curl", "GET", "/worker/brisk-otter", "", []string{"Host: HOST", basic}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := raw(t, s, "127.0.0.1", request(s, c.method, c.path, c.body, c.lines...))
			if a.code != c.want {
				t.Errorf("%d, want %d: %s", a.code, c.want, a.body)
			}
			harmless(t, a)
			if asks := a.header.Get("WWW-Authenticate") != ""; asks != (c.want == 401) {
				t.Errorf("it asks for a password: %v", asks)
			}
			if seen, may := strings.Contains(a.body, told), c.want == 200 && c.path != "/desk.css"; seen != may {
				t.Errorf("the answer shows a screen: %v", seen)
			}
		})
	}
}

// A desk with a script has no password: the key of a reader is none of its own, and nobody is asked for one.
func TestNoReader(t *testing.T) {
	s, _ := desk(t)
	a := raw(t, s, "127.0.0.1", request(s, "GET", "/", "", "Host: HOST", password("")))
	if a.code != 200 || strings.Contains(a.body, told) || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%+v", a)
	}
}

// A browser that runs no scripts reads every screen, and goes from one to the next by links.
func TestBrowserReads(t *testing.T) {
	source := newSample()
	source.still = true
	source.patch += lines(3_000)
	s, key := reading(t, source)
	scripted, _ := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	p.NoScripts()
	p.Open(scripted.Link()) // the control: no script runs here
	p.Until(`document.querySelector("#hint") && !document.querySelector("header")`)
	p.Open("http://me:" + key + "@" + s.host + "/")
	shows := func(words ...string) {
		t.Helper()
		p.Until(`document.querySelector("#help")`) // the end of the page
		text := testbrowser.Eval[string](p, "document.body.textContent")
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%s does not show %q", testbrowser.Eval[string](p, "location.pathname"), word)
			}
		}
	}
	follow := func(link, path string) {
		t.Helper()
		testbrowser.Eval[bool](p, `(() => { document.querySelector(`+"`"+link+"`"+`).click(); return true })()`)
		p.Until(`location.pathname === "` + path + `" && document.querySelector("#help")`)
	}
	shows("curious-parrot", "Greet in capitals, or in small letters?", "docs/guide.md: outside write_roots", "Edit src/retry.go")
	follow(`#main a[href="/worker/famed-curlew"]`, "/worker/famed-curlew")
	shows("2 of 5 changes are outside its lease.", "98c00419 instead of 353b6f04", "Call me.", "U+202E", "func f3000()", "BLOCKED", "worker.quarantined",
		"Without scripts, the desk only shows.", `cordon quarantine release famed-curlew --write docs/guide.md --reason "…"`)
	if n := testbrowser.Eval[int](p, `document.querySelectorAll("script, form:not([method=get], [method=dialog]), [data-more]").length`); n != 0 {
		t.Errorf("%d parts of the review need a script", n)
	}
	if dead := testbrowser.Eval[int](p, `[...document.querySelectorAll("header input, button")].filter(e => e.checkVisibility()).length`); dead != 0 {
		t.Errorf("%d buttons do nothing", dead)
	}
	follow("#go-plan", "/plan")
	follow(`#main a[href="/plan/release-2.4"]`, "/plan/release-2.4")
	shows("Critical path", "waits for web")
	follow("#go-journal", "/journal")
	shows("4182 events, sound", "lease.sealed")
	testbrowser.Eval[bool](p, `(() => { document.querySelector("#f-worker").value = "famed"; document.querySelector(".filter button").click(); return true })()`)
	p.Until(`location.search.includes("worker=famed") && document.querySelector("#f-worker")?.value === "famed"`)
	follow("#go-fleet", "/fleet")
	shows("big-box", "cordon fleet drain big-box", "cordon fleet resume old-box", "lost-box", "no node can run it: big-box does not have the client codex")
	if color := testbrowser.Eval[string](p, `getComputedStyle(document.querySelector("header")).display`); color == "block" {
		t.Error("the page has no style")
	}
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the page complains: %q", said)
	}
}
