package main

import (
	"bufio"
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"cordon/internal/testnet"
)

// What a client begins with is what the server takes for its wish, and nothing of it
// is left over for the stream.
func TestOpenings(t *testing.T) {
	for _, r := range []route{{}, {Name: allowedName, TLS: true}, {Name: allowedName}} {
		for _, wish := range []byte{download, upload, echo} {
			words, err := r.opening(wish)
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(bytes.NewReader(append(words, "rest"...)))
			got, answer, err := opened(in)
			if err != nil || got != wish {
				t.Errorf("%+v %c: %c %v", r, wish, got, err)
			}
			if rest, _ := in.Peek(5); string(rest) != "rest" {
				t.Errorf("%+v %c: %q is left", r, wish, rest)
			}
			if http := r.Name != "" && !r.TLS; (answer != "") != (http && wish != upload || r.TLS) {
				t.Errorf("%+v %c is answered %q", r, wish, answer)
			}
		}
	}
}

// The same questions are answered on a way without a relay and through the proxy.
func TestAskerMeasures(t *testing.T) {
	server, proxy := serving(t, serveOne), serving(t, proxyOne)
	for _, r := range []route{{To: server}, {To: server, Proxy: proxy}, {To: server, Name: allowedName, TLS: true}} {
		a := &asker{}
		for _, act := range []string{"download", "upload"} {
			if got, err := a.stream(question{Act: act, Route: r, For: 10 * time.Millisecond}); err != nil || got.Bytes == 0 || got.Took < 10*time.Millisecond {
				t.Errorf("%+v %s: %+v %v", r, act, got, err)
			}
		}
		got, err := a.connect(question{Route: r, Count: 3})
		if err != nil || len(got.First) != 3 || got.First[0] < got.Connected[0] {
			t.Errorf("%+v: %+v %v", r, got, err)
		}
		if got, err := a.open(question{Route: r, Count: 5}); err != nil || got.Failed != 0 || len(a.held) != 5 {
			t.Errorf("%+v: %+v %v, %d held", r, got, err, len(a.held))
		}
		if got, err := a.talk(question{Count: 3}); err != nil || got.Failed != 0 {
			t.Errorf("%+v: %+v %v", r, got, err)
		}
		if _, err := a.shut(question{}); err != nil || a.held != nil {
			t.Errorf("%+v: %v, %d held", r, err, len(a.held))
		}
	}
}

// Connections that fail are counted, and not taken for quick ones.
func TestAskerCountsFailures(t *testing.T) {
	closed := route{To: testnet.Refusing(t)}
	a := &asker{}
	if got, err := a.open(question{Route: closed, Count: 4}); err != nil || got.Failed != 4 || !strings.Contains(got.Error, "refused") || a.held != nil {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := a.connect(question{Route: closed, Count: 1}); err == nil || got.First != nil {
		t.Errorf("%+v %v", got, err)
	}
}

// serving is where something serves until the test ends.
func serving(t *testing.T, serve func(*net.TCPConn) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go each(l, serve)
	return l.Addr().String()
}
