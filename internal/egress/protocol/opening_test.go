package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
)

func TestOpeningIsRecognised(t *testing.T) {
	for _, c := range []struct {
		what, said string
		Kind       Kind
		name       string
	}{
		{"a request", get + "\r\n", HTTP, "a.example"},
		{"a request with a body", get + "Content-Length: 5\r\n\r\nhello", HTTP, "a.example"},
		{"a port and capitals", "GET / HTTP/1.1\r\nHost: A.Example.:8080\r\n\r\n", HTTP, "a.example"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", HTTP, ""},
		{"two hosts", get + host + "\r\n", HTTP, ""},
		{"a host that is none", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HTTP, ""},
		{"bare LF", "GET / HTTP/1.1\nHost: a.example\n", HTTP, ""},
		{"NUL in the head", get + "X: \x00", HTTP, ""},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP, ""},
		{"a method in lower case", "get / HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"a method that nobody knows", ".0L / HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"too long a method", strings.Repeat("A", 1000) + " / HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"no method any more", strings.Repeat("A", 2000) + " / HTTP/1.1\r\nHost: a.example\r\n\r\n", Other, ""},
		{"tabs for spaces", "GET\t/\tHTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"spaces in the path", "GET /a b HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"empty lines before", "\r\n\n\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP, ""},
		{"CONNECT", "CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n", HTTP, "b.example"},
		{"SSH", "SSH-2.0-OpenSSH_9.6p1 Debian-4\r", Other, ""},
		{"a mail", "HELO a.example\r", Other, ""},
		{"Redis", "PING\r", Other, ""},
		{"Redis in its own form", "*1\r", Other, ""},
		{"memcached", "set foo 0 0 5\r", Other, ""},
		{"HTTP/0.9", "GET /\r", Other, ""},
		{"IMAP", "a0 LOGIN x y\r", Other, ""},
		{"AMQP", "AMQP\x00", Other, ""},
		{"a binary protocol with letters", "A b\x01", Other, ""},
		{"PostgreSQL", "\x00", Other, ""},
		{"bytes that are not ASCII", "\x80\x00\x02\x00", Other, ""},
		{"no record", "\x16\x10", Other, ""},
		{"a length of 22", "\x16\x00\x00\x00\x00\x00", Other, ""},
		{"a space", " ", Other, ""},
		{"git", "0032git-upload-pack /x\x00", Other, ""},
		{"a text", "{", Other, ""},
	} {
		// The client waits for an answer: not one read more than is needed.
		waiting := iotest.ErrReader(errors.New("it was read on"))
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.said), "byte by byte": iotest.OneByteReader(strings.NewReader(c.said))} {
			o, err := ReadOpening(io.MultiReader(r, waiting))
			if err != nil || o.Protocol != c.Kind || o.Name != c.name || !strings.HasPrefix(c.said, string(o.Read)) {
				t.Errorf("%s, %s: %v %q %v", c.what, how, o.Protocol, o.Name, err)
			}
		}
	}
}

// A hello in the form of SSL 2 names no server, and is none of the protocols that
// pass unseen.
func TestOldHello(t *testing.T) {
	for _, said := range []string{"\x80\x2e\x01\x00\x02", "\x80\x2e\x01\x03\x01"} {
		o, err := ReadOpening(strings.NewReader(said))
		var strange *StrangerError
		if o.Protocol != TLS || !errors.As(err, &strange) {
			t.Errorf("%q: %v %v", said, o.Protocol, err)
		}
	}
}

func TestOpeningThatEnds(t *testing.T) {
	late := errors.New("late")
	for _, c := range []struct {
		said string
		Kind Kind
	}{
		{"", Other}, {"G", Other}, {"GET /", Other}, {"\r\n", Other}, {"\x16", Other},
		{"GET / HTTP/1.1\r", HTTP}, {get, HTTP}, {"\x16\x03", TLS}, {"\x16\x03\x01\x02\x00\x01", TLS},
	} {
		o, err := ReadOpening(io.MultiReader(strings.NewReader(c.said), iotest.ErrReader(late)))
		if !errors.Is(err, late) || string(o.Read) != c.said || o.Protocol != c.Kind || o.Name != "" {
			t.Errorf("%q: %v %q %v", c.said, o.Protocol, o.Read, err)
		}
	}
	if _, err := ReadOpening(idle{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("nothing for ever: %v", err)
	}
}

// forever says the same without an end.
type forever string

func (f forever) Read(p []byte) (int, error) { return copy(p, f), nil }

func TestOpeningIsBounded(t *testing.T) {
	for _, c := range []struct {
		what string
		r    io.Reader
	}{
		{"a path", io.MultiReader(strings.NewReader("GET /"), forever("x"))},
		{"fields", io.MultiReader(strings.NewReader(get), forever("X: y\r\n"))},
		{"empty lines", forever("\r\n")},
	} {
		o, err := ReadOpening(c.r)
		var strange *StrangerError
		if !errors.As(err, &strange) && err != nil || o.Protocol != HTTP || len(o.Read) > maxOpening || cap(o.Read) > maxOpening {
			t.Errorf("%s without an end: %v %v, %d read", c.what, o.Protocol, err, len(o.Read))
		}
		if err == nil && o.Name != "" {
			t.Errorf("%s without an end is for %q", c.what, o.Name)
		}
	}
}

func TestRefusalIsUnderstoodByHTTP(t *testing.T) {
	for _, why := range []string{
		"b.example is not in network.allowed_domains",
		"\x1b[31mred\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\u202e\xff",
		strings.Repeat("ä", 10000),
	} {
		r := bufio.NewReader(bytes.NewReader(RefusalHTTP(why)))
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != 403 || !answer.Close || answer.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%d %v %v", answer.StatusCode, answer.Header, err)
		}
		text := string(body)
		if !strings.HasPrefix(text, "cordon refused this: ") || !strings.Contains(text, "network in the policy") || strings.Count(text,
			"\n") != 2 || len(text) > 2000 {
			t.Errorf("the text is %q", text)
		}
		if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), func(r rune) bool { return !unicode.IsPrint(r) && r != unicode.ReplacementChar }) {
			t.Errorf("a terminal would obey %q", text)
		}
		if r.Buffered() > 0 {
			t.Errorf("there is more than one answer")
		}
	}
	text := string(RefusalHTTP("b.example is not allowed"))
	if !strings.Contains(text, "cordon refused this: b.example is not allowed\n") {
		t.Errorf("the reason is not in %q", text)
	}
}
