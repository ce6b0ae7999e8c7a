package egress

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
		protocol   protocol
		name       string
	}{
		{"a request", get + "\r\n", httpProtocol, "a.example"},
		{"a request with a body", get + "Content-Length: 5\r\n\r\nhello", httpProtocol, "a.example"},
		{"a port and capitals", "GET / HTTP/1.1\r\nHost: A.Example.:8080\r\n\r\n", httpProtocol, "a.example"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", httpProtocol, ""},
		{"two hosts", get + host + "\r\n", httpProtocol, ""},
		{"a host that is none", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", httpProtocol, ""},
		{"bare LF", "GET / HTTP/1.1\nHost: a.example\n", httpProtocol, ""},
		{"NUL in the head", get + "X: \x00", httpProtocol, ""},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", httpProtocol, ""},
		{"a method in lower case", "get / HTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"a method that nobody knows", ".0L / HTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"too long a method", strings.Repeat("A", 1000) + " / HTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"no method any more", strings.Repeat("A", 2000) + " / HTTP/1.1\r\nHost: a.example\r\n\r\n", otherProtocol, ""},
		{"tabs for spaces", "GET\t/\tHTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"spaces in the path", "GET /a b HTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"empty lines before", "\r\n\n\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n", httpProtocol, ""},
		{"CONNECT", "CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n", httpProtocol, "b.example"},
		{"SSH", "SSH-2.0-OpenSSH_9.6p1 Debian-4\r", otherProtocol, ""},
		{"a mail", "HELO a.example\r", otherProtocol, ""},
		{"Redis", "PING\r", otherProtocol, ""},
		{"Redis in its own form", "*1\r", otherProtocol, ""},
		{"memcached", "set foo 0 0 5\r", otherProtocol, ""},
		{"HTTP/0.9", "GET /\r", otherProtocol, ""},
		{"IMAP", "a0 LOGIN x y\r", otherProtocol, ""},
		{"AMQP", "AMQP\x00", otherProtocol, ""},
		{"a binary protocol with letters", "A b\x01", otherProtocol, ""},
		{"PostgreSQL", "\x00", otherProtocol, ""},
		{"bytes that are not ASCII", "\x80\x00\x02\x00", otherProtocol, ""},
		{"no record", "\x16\x10", otherProtocol, ""},
		{"a length of 22", "\x16\x00\x00\x00\x00\x00", otherProtocol, ""},
		{"a space", " ", otherProtocol, ""},
		{"git", "0032git-upload-pack /x\x00", otherProtocol, ""},
		{"a text", "{", otherProtocol, ""},
	} {
		// The client waits for an answer: not one read more than is needed.
		waiting := iotest.ErrReader(errors.New("it was read on"))
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.said), "byte by byte": iotest.OneByteReader(strings.NewReader(c.said))} {
			o, err := readOpening(io.MultiReader(r, waiting))
			if err != nil || o.protocol != c.protocol || o.name != c.name || !strings.HasPrefix(c.said, string(o.read)) {
				t.Errorf("%s, %s: %v %q %v", c.what, how, o.protocol, o.name, err)
			}
		}
	}
}

// A hello in the form of SSL 2 names no server, and is none of the protocols that
// pass unseen.
func TestOldHello(t *testing.T) {
	for _, said := range []string{"\x80\x2e\x01\x00\x02", "\x80\x2e\x01\x03\x01"} {
		o, err := readOpening(strings.NewReader(said))
		var strange *strangerError
		if o.protocol != tlsProtocol || !errors.As(err, &strange) {
			t.Errorf("%q: %v %v", said, o.protocol, err)
		}
	}
}

func TestOpeningThatEnds(t *testing.T) {
	late := errors.New("late")
	for _, c := range []struct {
		said     string
		protocol protocol
	}{
		{"", otherProtocol}, {"G", otherProtocol}, {"GET /", otherProtocol}, {"\r\n", otherProtocol}, {"\x16", otherProtocol},
		{"GET / HTTP/1.1\r", httpProtocol}, {get, httpProtocol}, {"\x16\x03", tlsProtocol}, {"\x16\x03\x01\x02\x00\x01", tlsProtocol},
	} {
		o, err := readOpening(io.MultiReader(strings.NewReader(c.said), iotest.ErrReader(late)))
		if !errors.Is(err, late) || string(o.read) != c.said || o.protocol != c.protocol || o.name != "" {
			t.Errorf("%q: %v %q %v", c.said, o.protocol, o.read, err)
		}
	}
	if _, err := readOpening(idle{}); !errors.Is(err, io.ErrNoProgress) {
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
		o, err := readOpening(c.r)
		var strange *strangerError
		if !errors.As(err, &strange) && err != nil || o.protocol != httpProtocol || len(o.read) > maxOpening || cap(o.read) > maxOpening {
			t.Errorf("%s without an end: %v %v, %d read", c.what, o.protocol, err, len(o.read))
		}
		if err == nil && o.name != "" {
			t.Errorf("%s without an end is for %q", c.what, o.name)
		}
	}
}

func TestRefusalIsUnderstoodByHTTP(t *testing.T) {
	for _, why := range []string{
		"b.example is not in network.allowed_domains",
		"\x1b[31mred\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\u202e\xff",
		strings.Repeat("ä", 10000),
	} {
		r := bufio.NewReader(bytes.NewReader(refusalHTTP(why)))
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
	text := string(refusalHTTP("b.example is not allowed"))
	if !strings.Contains(text, "cordon refused this: b.example is not allowed\n") {
		t.Errorf("the reason is not in %q", text)
	}
}
