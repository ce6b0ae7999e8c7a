package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	host = "Host: a.example\r\n"
	get  = "GET / HTTP/1.1\r\n" + host
)

// passed is what of a stream is let through to a.example, port 80, and why not the
// rest. The server answers nothing.
func passed(r io.Reader) (string, error) {
	q := NewRequests(r, nil, "a.example", 80)
	q.Verdict.Tell(false)
	b, err := io.ReadAll(q)
	return string(b), err
}

var goodStreams = []struct{ what, said string }{
	{"nothing", ""},
	{"a request", get + "\r\n"},
	{"HTTP/1.0", "GET / HTTP/1.0\r\n" + host + "\r\n"},
	{"one that would have HTTP/2", get + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n"},
	{"one that would have TLS", get + "Upgrade: TLS/1.2\r\n\r\n" + get + "\r\n"},
	{"a port", "GET / HTTP/1.1\r\nHost: a.example:80\r\n\r\n"},
	{"upper case and a dot", "GET / HTTP/1.1\r\nHOST:\tA.EXAMPLE. \r\n\r\n"},
	{"a URL", "GET http://a.example/x?y HTTP/1.1\r\n" + host + "\r\n"},
	{"a URL with a port", "GET HTTP://A.example.:80?y HTTP/1.1\r\n" + host + "\r\n"},
	{"a URL without a path", "GET http://a.example HTTP/1.1\r\n" + host + "\r\n"},
	{"all of the server", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n"},
	{"a method of WebDAV", "VERSION-CONTROL / HTTP/1.1\r\n" + host + "\r\n"},
	{"a path that looks like a host", "GET //b.example/ HTTP/1.1\r\n" + host + "\r\n"},
	{"bytes that are not ASCII in a value", get + "X: \xff\xfe\tä\r\n\r\n"},
	{"empty values", get + "X:\r\nY: \t\r\n\r\n"},
	{"a length", "POST / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "\r\nhello"},
	{"an expectation", "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 5\r\nConnection: keep-alive, TE\r\n" + host + "\r\nhello"},
	{"a length of 0", "POST / HTTP/1.1\r\nContent-Length: 0\r\n" + host + "\r\n"},
	{"a request as a body", "POST / HTTP/1.1\r\nContent-Length: 39\r\n" + host + "\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n\r\n\r\n" + get + "\r\n"},
	{"chunks", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host + "\r\n5\r\nhello\r\n00A\r\n0123456789\r\n0\r\n\r\n" + get + "\r\n"},
	{"chunks with extensions", "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n" + host + "\r\n5;a=\"b\";c\r\nhello\r\n0;x\r\n\r\n"},
	{"a trailer", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host + "\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n" + get + "\r\n"},
	{"a pipeline", strings.Repeat(get+"\r\n", 100)},
	{"half a body", "POST / HTTP/1.1\r\nContent-Length: 50\r\n" + host + "\r\nhello"},
	{"another protocol that is not had", get + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + get + "\r\n"},
	{"a head as long as it may be", get + "X: " + strings.Repeat("x", maxOpening-len(get)-7) + "\r\n\r\n"},
}

func TestRequestsPassAsTheyCame(t *testing.T) {
	for _, c := range goodStreams {
		for how, r := range ways(c.said) {
			if got, err := passed(r); err != nil || got != c.said {
				t.Errorf("%s, %s: %d of %d bytes passed: %v", c.what, how, len(got), len(c.said), err)
			}
		}
	}
}

// ways are those in which a stream may come.
func ways(said string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":       strings.NewReader(said),
		"byte by byte":  iotest.OneByteReader(strings.NewReader(said)),
		"half and half": iotest.HalfReader(strings.NewReader(said)),
		"with its end":  iotest.DataErrReader(strings.NewReader(said)),
	}
}

var badStreams = []struct {
	what, good, bad string // what passes, and what does not
	name, why       string
}{
	{"another host", "", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example, and the connection for a.example"},
	{"another host later", get + "\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example"},
	{"another host after a body", "POST / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "\r\nhello", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example"},
	{"a name below", "", "GET / HTTP/1.1\r\nHost: x.a.example\r\n\r\n", "x.a.example", "for x.a.example"},
	{"another port", "", "GET / HTTP/1.1\r\nHost: a.example:81\r\n\r\n", "a.example", "port 81"},
	{"no host", "", "GET / HTTP/1.1\r\n\r\n", "", "no Host"},
	{"no host in HTTP/1.0", "", "GET / HTTP/1.0\r\n\r\n", "", "no Host"},
	{"no host but in a URL", "", "GET http://a.example/ HTTP/1.1\r\n\r\n", "", "no Host"},
	{"two hosts", "", get + "Host: b.example\r\n\r\n", "", "several Hosts"},
	{"the same host twice", "", get + host + "\r\n", "", "several Hosts"},
	{"an empty host", "", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "", "not a host name"},
	{"a list of hosts", "", "GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n", "", "not a host name"},
	{"a path in the host", "", "GET / HTTP/1.1\r\nHost: a.example/b\r\n\r\n", "", "not a host name"},
	{"a user in the host", "", "GET / HTTP/1.1\r\nHost: a.example@b.example\r\n\r\n", "", "not a host name"},
	{"a user and a port", "", "GET / HTTP/1.1\r\nHost: a.example:80@b.example\r\n\r\n", "", "not a host name and port"},
	{"IPv6", "", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "", "not a host name"},
	{"IPv4", "", "GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", "", "not a host name"},
	{"no port", "", "GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n", "", "not a host name and port"},
	{"a port in another form", "", "GET / HTTP/1.1\r\nHost: a.example:080\r\n\r\n", "", "not a host name and port"},
	{"too large a port", "", "GET / HTTP/1.1\r\nHost: a.example:65616\r\n\r\n", "", "not a host name and port"},
	{"not ASCII", "", "GET / HTTP/1.1\r\nHost: a。example\r\n\r\n", "", "not a host name"},
	{"a URL of another host", "", "GET http://b.example/ HTTP/1.1\r\n" + host + "\r\n", "b.example", "for b.example"},
	{"a URL of another port", "", "GET http://a.example:8080/ HTTP/1.1\r\n" + host + "\r\n", "a.example", "port 8080"},
	{"a URL with a user", "", "GET http://a.example@b.example/ HTTP/1.1\r\n" + host + "\r\n", "", "not a host name"},
	{"a URL with a backslash", "", "GET http://a.example\\@b.example/ HTTP/1.1\r\n" + host + "\r\n", "", "not a host name"},
	{"a URL of HTTPS", "", "GET https://a.example/ HTTP/1.1\r\n" + host + "\r\n", "", "neither a path"},
	{"a URL of nobody", "", "GET http:/// HTTP/1.1\r\n" + host + "\r\n", "", "not a host name"},
	{"an authority", "", "GET a.example:80 HTTP/1.1\r\n" + host + "\r\n", "", "neither a path"},
	{"CONNECT", "", "CONNECT a.example:80 HTTP/1.1\r\n" + host + "\r\n", "", "CONNECT"},
	{"CONNECT of a path", "", "CONNECT / HTTP/1.1\r\n" + host + "\r\n", "", "CONNECT"},
	{"an authority and OPTIONS", "", "OPTIONS b.example:80 HTTP/1.1\r\n" + host + "\r\n", "", "neither a path"},
	{"too long a method", "", strings.Repeat("A", longestMethod+1) + " / HTTP/1.1\r\n" + host + "\r\n", "", "method"},
	{"a star", "", "GET * HTTP/1.1\r\n" + host + "\r\n", "", "neither a path"},
	{"HTTP/2", "", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", "HTTP/2"},
	{"HTTP/0.9", "", "GET /\r\n\r\n", "", "not HTTP/1.0"},
	{"HTTP/1.2", "", "GET / HTTP/1.2\r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"http in lower case", "", "GET / http/1.1\r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"two spaces", "", "GET  / HTTP/1.1\r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"a space in the path", "", "GET /a b HTTP/1.1\r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"a space at the end", "", "GET / HTTP/1.1 \r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"a tab", "", "GET\t/ HTTP/1.1\r\n" + host + "\r\n", "", "not HTTP/1.0"},
	{"a tab in the path", "", "GET /\tx HTTP/1.1\r\n" + host + "\r\n", "", "target"},
	{"bytes in the path", "", "GET /\xff HTTP/1.1\r\n" + host + "\r\n", "", "target"},
	{"a method in lower case", "", "get / HTTP/1.1\r\n" + host + "\r\n", "", "method"},
	{"no method", "", " / HTTP/1.1\r\n" + host + "\r\n", "", "method"},
	{"an empty line before", "", "\r\n" + get + "\r\n", "", "request line"},
	{"an empty line between", get + "\r\n", "\r\n" + get + "\r\n", "", "request line"},
	{"a bare LF", "", "GET / HTTP/1.1\nHost: a.example\n\n", "", "bare LF"},
	{"a bare LF among others", "", get + "X: y\nHost: b.example\r\n\r\n", "", "bare LF"},
	{"a bare LF for the empty line", "", get + "\nGET", "", "bare LF"},
	{"a bare CR", "", get + "X: y\rHost: b.example\r\n\r\n", "", "bare CR"},
	{"two CRs", "", get + "\r\r\n", "", "bare CR"},
	{"NUL", "", get + "X: \x00\r\n\r\n", "", "0x00"},
	{"a vertical tab", "", get + "X: \x0b\r\n\r\n", "", "0x0b"},
	{"DEL", "", get + "X: \x7f\r\n\r\n", "", "0x7f"},
	{"a folded line", "", get + "X: y\r\n Host: b.example\r\n\r\n", "", "an invalid field"},
	{"a folded line at first", "", "GET / HTTP/1.1\r\n Host: b.example\r\n" + host + "\r\n", "", "an invalid field"},
	{"a space before the colon", "", "GET / HTTP/1.1\r\nHost : b.example\r\n" + host + "\r\n", "", "an invalid field"},
	{"a tab before the colon", "", get + "Content-Length\t: 5\r\n\r\n", "", "an invalid field"},
	{"no colon", "", get + "Hello\r\n\r\n", "", "an invalid field"},
	{"no name", "", get + ": x\r\n\r\n", "", "an invalid field"},
	{"a name that is no token", "", get + "Ho(st: x\r\n\r\n", "", "an invalid field"},
	{"a name that is not ASCII", "", get + "Ho\u017ft: x\r\n\r\n", "", "an invalid field"},
	{"an underscore", "", get + "Content_Length: 5\r\n\r\n", "", "read as another"},
	{"too many fields", "", get + strings.Repeat("X: y\r\n", maxFields) + "\r\n", "", "more than 200"},
	{"too long a head", "", get + "X: " + strings.Repeat("x", maxOpening-len(get)-6) + "\r\n\r\n", "", "longer than 32 KiB"},
	{"too long a line", "", "GET /" + strings.Repeat("x", maxOpening) + " HTTP/1.1\r\n", "", "longer than 32 KiB"},
	{"two lengths", "", get + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "", "more than once"},
	{"a length and chunks", "", get + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "more than once"},
	{"chunks twice", "", get + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", "", "more than once"},
	{"a list of lengths", "", get + "Content-Length: 5, 5\r\n\r\nhello", "", "Content-Length"},
	{"a negative length", "", get + "Content-Length: -5\r\n\r\nhello", "", "Content-Length"},
	{"a length with a sign", "", get + "Content-Length: +5\r\n\r\nhello", "", "Content-Length"},
	{"a length with zeros", "", get + "Content-Length: 05\r\n\r\nhello", "", "Content-Length"},
	{"a length in hexadecimal", "", get + "Content-Length: 0x5\r\n\r\nhello", "", "Content-Length"},
	{"too large a length", "", get + "Content-Length: 9223372036854775808\r\n\r\n", "", "Content-Length"},
	{"no length", "", get + "Content-Length:\r\n\r\n", "", "Content-Length"},
	{"chunks in HTTP/1.0", "", "POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "HTTP/1.0"},
	{"another encoding", "", get + "Transfer-Encoding: gzip, chunked\r\n\r\n", "", "only chunked"},
	{"an encoding in quotes", "", get + "Transfer-Encoding: \"chunked\"\r\n\r\n", "", "only chunked"},
	{"no encoding", "", get + "Transfer-Encoding:\r\n\r\n", "", "only chunked"},
	{"no chunk", chunked, "x\r\n", "", "chunk"},
	{"a chunk with a sign", chunked, "+5\r\nhello\r\n", "", "chunk"},
	{"a chunk with a prefix", chunked + "0", "x5\r\nhello\r\n", "", "chunk"},
	{"a space before a chunk", chunked, " 5\r\nhello\r\n", "", "chunk"},
	{"a space behind a size", chunked + "5", " \r\nhello\r\n", "", "chunk"},
	{"an empty size", chunked, "\r\n\r\n", "", "chunk"},
	{"no size", chunked, ";a\r\n", "", "chunk"},
	{"too large a chunk", chunked + "100000000000000", "0\r\n", "", "chunk"},
	{"a chunk longer than it says", chunked + "1\r\nx", "y\r\n", "", "chunk"},
	{"a bare LF behind a size", chunked + "1", "\nx\r\n", "", "chunk"},
	{"a bare LF behind a chunk", chunked + "1\r\nx", "\n0\r\n\r\n", "", "chunk"},
	{"a bare CR behind a size", chunked + "1\r", "x\r\n", "", "chunk"},
	{"a bare CR behind a chunk", chunked + "1\r\nx\r", "0\r\n\r\n", "", "chunk"},
	{"a bare LF in an extension", chunked + "1;a", "\nx\r\n0\r\n\r\n", "", "chunk"},
	{"a bare CR in an extension", chunked + "1;a\r", "b\r\n", "", "chunk"},
	{"NUL in an extension", chunked + "1;a", "\x00\r\n", "", "chunk"},
	{"too long an extension", chunked + "1;" + strings.Repeat("x", longestExtension), "x\r\n", "", "chunk"},
	{"a host in the trailer", chunked + "0\r\n", "Host: b.example\r\n\r\n", "", "in its trailer"},
	{"a length in the trailer", chunked + "0\r\n", "X: y\r\nContent-Length: 5\r\n\r\n", "", "in its trailer"},
	{"a trailer that is none", chunked + "0\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "", "an invalid field"},
	{"a bare LF in the trailer", chunked + "0\r\n", "\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "", "bare LF"},
	{"too long a trailer", chunked + "0\r\n", "X: " + strings.Repeat("x", maxTrailer) + "\r\n\r\n", "", "longer than 8 KiB"},
	{"another host after a trailer", chunked + "0\r\nX: y\r\n\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example"},
	{"an expectation", "", get + "Expect: y 100-continue\r\n\r\n", "", "only 100-continue"},
	{"two expectations", "", get + "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n", "", "only 100-continue"},
	{"a host of the connection's", "", get + "Connection: close, hOST\r\n\r\n", "", "in its Connection field"},
	{"a length of the connection's", "", get + "Connection: content-length\r\nContent-Length: 1\r\n\r\nx", "", "in its Connection field"},
	{"HTTP/2 after a request that asked for it", get + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", ""},
	{"another host after one", get + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example"},
	{"TLS after a request that asked for it", get + "Upgrade: TLS/1.2\r\n\r\n", "\x16\x03\x01\x00\x05hello", "", "control character"},
	{"h2c and a body", "", get + "Upgrade: h2c\r\nContent-Length: 5\r\n\r\nhello", "", "h2c"},
	{"h2c among others", "", get + "Upgrade: websocket, H2C\r\n\r\n", "", "H2C"},
	{"h2c in a second field", "", get + "Upgrade: websocket\r\nUpgrade: h2c\r\n\r\n", "", "h2c"},
	{"a draft of HTTP/2 and a body", "", get + "Upgrade: h2c-16\r\nContent-Length: 5\r\n\r\nhello", "", "h2c-16"},
	{"HTTP/2 in quotes, among others", "", get + "Upgrade: websocket, \"h2c\"\r\n\r\n", "", "h2c"},
	{"a way to other servers, among others", "", get + "Upgrade: websocket, connect-udp\r\n\r\n", "", "connect-udp"},
	{"HTTP/2 after a draft of it was asked for", get + "Upgrade: h2c-16\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", ""},
	{"another protocol later", get + "\r\n", get + "Upgrade: websocket\r\n\r\n", "", "not the first"},
	{"another protocol twice", get + "Upgrade: websocket\r\n\r\n", get + "Upgrade: websocket\r\n\r\n", "", "not the first"},
	{"another protocol and a body", "", get + "Upgrade: websocket\r\nContent-Length: 5\r\n\r\nhello", "", "has a body"},
	{"another protocol and chunks", "", get + "Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "has a body"},
	{"another protocol in HTTP/1.0", "", "GET / HTTP/1.0\r\n" + host + "Upgrade: websocket\r\n\r\n", "", "HTTP/1.0"},
	{"another host where no other protocol was had", get + "Upgrade: websocket\r\n\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", "for b.example"},
	{"TLS after a request", get + "\r\n", "\x16\x03\x01\x00\x05hello", "", "control character"},
}

const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host + "\r\n"

func TestRequestsThatAreRefused(t *testing.T) {
	for _, c := range badStreams {
		for how, r := range ways(c.good + c.bad) {
			got, err := passed(r)
			var strange *StrangerError
			if !errors.As(err, &strange) || !strings.Contains(err.Error(), c.why) || strange.name != c.name {
				t.Errorf("%s, %s: %v, not %q", c.what, how, err, c.why)
			}
			if got != c.good {
				t.Errorf("%s, %s: passed %q", c.what, how, got)
			}
		}
	}
}

func TestRequestsEndWithTheClient(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		what, said, passed string
		end, want          error
	}{
		{"between requests", get + "\r\n", get + "\r\n", io.EOF, io.EOF},
		{"in a head", get + "\r\n" + get, get + "\r\n", io.EOF, io.ErrUnexpectedEOF},
		{"in a body", "POST / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "\r\nhe", "POST / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "\r\nhe", io.EOF, io.EOF},
		{"before a trailer", chunked + "0\r\n", chunked + "0\r\n", io.EOF, io.ErrUnexpectedEOF},
		{"by an error", get + "\r\n" + get, get + "\r\n", broken, broken},
		{"by nothing at all", get, "", nil, io.ErrNoProgress},
	} {
		q := NewRequests(io.MultiReader(strings.NewReader(c.said), iotest.ErrReader(c.end)), nil, "a.example", 80)
		if c.end == nil {
			q = NewRequests(idle{}, []byte(c.said), "a.example", 80)
		}
		got, err := readAll(q)
		if got != c.passed || !errors.Is(err, c.want) {
			t.Errorf("%s: %q %v", c.what, got, err)
		}
		if n, again := q.Read(make([]byte, 9)); n != 0 || !errors.Is(again, c.want) {
			t.Errorf("%s: then %d %v", c.what, n, again)
		}
	}
}

// once says something together with an error, and must not be asked again.
type once struct {
	t    *testing.T
	said string
	err  error
}

func (o *once) Read(p []byte) (int, error) {
	if o.said == "" {
		o.t.Error("read again after an error")
	}
	n := copy(p, o.said)
	o.said = o.said[n:]
	if o.said == "" {
		return n, o.err
	}
	return n, nil
}

func TestRequestsReadNothingAfterAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, said := range []string{get + "\r\n", get, chunked + "5\r\nhe", upgrade, upgrade + "x"} {
		q := NewRequests(&once{t, said, broken}, nil, "a.example", 80)
		q.Verdict.Tell(true)
		if _, err := io.ReadAll(q); !errors.Is(err, broken) {
			t.Errorf("%q: %v", said, err)
		}
		if o, err := ReadOpening(&once{t, said[:9], broken}); !errors.Is(err, broken) || string(o.Read) != said[:9] {
			t.Errorf("%q: opened with %v", said, err)
		}
	}
}

// At another port than HTTP's own, a Host may leave it away and a URL may not.
func TestRequestsAtAnotherPort(t *testing.T) {
	for said, good := range map[string]bool{
		get + "\r\n": true,
		"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n":                      true,
		"GET / HTTP/1.1\r\nHost: a.example:80\r\n\r\n":                        false,
		"GET http://a.example:8080/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n": true,
		"GET http://a.example/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n":      false,
	} {
		if _, err := io.ReadAll(NewRequests(strings.NewReader(said), nil, "a.example", 8080)); (err == nil) != good {
			t.Errorf("%q: %v", said, err)
		}
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func readAll(r io.Reader) (string, error) {
	var b bytes.Buffer
	for p := make([]byte, 100); ; {
		n, err := r.Read(p)
		b.Write(p[:n])
		if err != nil {
			return b.String(), err
		}
	}
}

// What was read by somebody else comes first, and nobody is named by nothing.
func TestRequestsGoOnFromTheOpening(t *testing.T) {
	said := strings.Repeat(get+"\r\n", 3)
	for n := range said {
		q := NewRequests(strings.NewReader(said[n:]), []byte(said[:n]), "a.example", 80)
		if got, err := io.ReadAll(q); err != nil || string(got) != said {
			t.Fatalf("after %d bytes: %q %v", n, got, err)
		}
	}
	q := NewRequests(strings.NewReader("GET / HTTP/1.1\r\nHost:\r\n\r\n"), nil, "", 80)
	if got, err := io.ReadAll(q); err == nil || len(got) > 0 {
		t.Errorf("for nobody: %q %v", got, err)
	}
	if n, err := q.Read(nil); n != 0 || err != nil {
		t.Errorf("into nothing: %d %v", n, err)
	}
}

// Between requests, and while a body of any size passes, nothing is kept.
func TestRequestsKeepNothing(t *testing.T) {
	r, w := io.Pipe()
	q := NewRequests(r, nil, "a.example", 80)
	go func() {
		block := fmt.Sprintf("%x\r\n%s\r\n", 4096, strings.Repeat("x", 4096))
		io.WriteString(w, chunked)
		for range 4096 {
			io.WriteString(w, block)
		}
		io.WriteString(w, "0\r\n\r\n"+get+"Content-Length: 16777216\r\n\r\n")
		for range 4096 {
			io.WriteString(w, block[:4096])
		}
		w.Close()
	}()
	p := make([]byte, 64<<10)
	most := 0
	for {
		_, err := q.Read(p)
		most = max(most, cap(q.in))
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if most > 8<<10 || q.in != nil {
		t.Errorf("%d bytes were kept, %d at the end", most, cap(q.in))
	}
}
