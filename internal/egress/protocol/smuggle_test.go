package protocol

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// hosts are those that a server of net/http sees in a stream.
func hosts(stream []byte) []string {
	var list []string
	r := bufio.NewReader(bytes.NewReader(stream))
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return list
		}
		list = append(list, req.Host)
		if req.URL.Host != "" {
			list = append(list, req.URL.Host)
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return list
		}
		for name := range req.Trailer {
			if strings.EqualFold(name, "Host") {
				list = append(list, req.Trailer.Get(name))
			}
		}
	}
}

// naiveHosts are those that the crudest server could see: one that takes any line
// end, and believes one field about the length of a body and not the other.
func naiveHosts(stream []byte, believeLength bool) []string {
	var list []string
	for len(stream) > 0 {
		norm, used := naiveHead(stream)
		if used == 0 {
			return list
		}
		stream = stream[used:]
		length, isChunked := 0, false
		for _, line := range norm {
			name, value, _ := strings.Cut(line, ":")
			value = strings.ToLower(strings.TrimSpace(value))
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "host":
				list = append(list, value)
			case "content-length":
				fmt.Sscanf(value, "%d", &length)
			case "transfer-encoding":
				isChunked = strings.Contains(value, "chunked")
			}
		}
		if isChunked && !believeLength {
			stream = naiveChunks(stream)
		} else if !isChunked || length > 0 {
			stream = stream[min(max(length, 0), len(stream)):]
		} else {
			return list // it would answer 400
		}
	}
	return list
}

func naiveHead(b []byte) (lines []string, used int) {
	for rest := b; ; {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			return nil, 0
		}
		rest, used = after, used+len(line)+1
		text := strings.TrimRight(string(line), "\r")
		if text == "" && len(lines) > 0 {
			return lines, used
		}
		if text != "" {
			lines = append(lines, strings.Split(text, "\r")...)
		}
	}
}

func naiveChunks(b []byte) []byte {
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		size := 0
		if _, err := fmt.Sscanf(strings.TrimSpace(string(line)), "%x", &size); !found || err != nil || size < 0 || size > len(rest) {
			return nil
		}
		if size == 0 {
			for {
				line, after, found := bytes.Cut(rest, []byte("\n"))
				if !found || strings.TrimSpace(string(line)) == "" {
					return after
				}
				rest = after
			}
		}
		b = bytes.TrimLeft(rest[size:], "\r\n")
	}
}

// harmlessTo checks that no server sees anybody but a.example in what was let
// through, that it is what was said, and that it does not matter how that came.
func harmlessTo(t *testing.T, said []byte) {
	t.Helper()
	got, err := passed(bytes.NewReader(said))
	if !strings.HasPrefix(string(said), got) {
		t.Fatalf("passed %q of %q", got, said)
	}
	if err == nil && len(got) != len(said) {
		t.Fatalf("passed %q of %q and no error", got, said)
	}
	slow, slowErr := passed(iotest.OneByteReader(bytes.NewReader(said)))
	if slow != got || fmt.Sprint(slowErr) != fmt.Sprint(err) {
		t.Fatalf("at once %q %v, byte by byte %q %v", got, err, slow, slowErr)
	}
	for what, list := range map[string][]string{
		"net/http": hosts([]byte(got)), "naive by length": naiveHosts([]byte(got), true), "naive by chunks": naiveHosts([]byte(got), false),
	} {
		for _, h := range list {
			h = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(h), ":80"), ".")
			if h != "a.example" {
				t.Fatalf("%s sees %q in %q", what, h, got)
			}
		}
	}
	o, oerr := ReadOpening(bytes.NewReader(said))
	if oerr == nil && o.Protocol != HTTP && len(hosts(said)) > 0 {
		t.Fatalf("not taken for a request: %q", said)
	}
}

// pieces are what attacks on two servers that read differently are made of.
var pieces = []string{
	"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\n", "GET / HTTP/1.0\r\n", "GET http://a.example/ HTTP/1.1\r\n", "GET http://b.example/ " +
		"HTTP/1.1\r\n", "CONNECT b.example:80 HTTP/1.1\r\n",
	"Host: a.example\r\n", "Host: a.example\r\n", "Host: a.example\r\n", "Host: b.example\r\n", "Host : b.example\r\n", " Host: b.example\r\n", "X: y\nHost: b.example\r\n", "X: y\rHost: b.example\r\n", "X: \r\n\tb\r\n",
	"Content-Length: 0\r\n", "Content-Length: 5\r\n", "Content-Length: 40\r\n", "Content-Length: 5\r\nContent-Length: 0\r\n", "Content-Length: " +
		"+5\r\n", "content-length:5\r\n", "Content_Length: 5\r\n",
	"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding:\tchunked\r\n", "Transfer-Encoding: " +
		"xchunked\r\n", "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding:\n chunked\r\n", "X: y\r\nTransfer-Encoding\r\n: chunked\r\n",
	"Upgrade: websocket\r\n", "Upgrade: h2c\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n",
	"\r\n", "\r\n", "\r\n", "\n", "\r", "\x00", " ",
	"0\r\n\r\n", "0\r\n", "5\r\nhello\r\n", "5;x=y\r\nhello\r\n", "5\nhello\r\n", "5 \r\nhello\r\n", "hello", "1e\r\n", "0x5\r\n", "ffffffffffffffff1\r\n", "Trailer: Host\r\n",
	"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "POST / HTTP/1.1\r\nHost: " +
		"a.example\r\nTransfer-Encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 35\r\n\r\n",
}

func TestNobodyElseIsSeen(t *testing.T) {
	for _, c := range goodStreams {
		harmlessTo(t, []byte(c.said))
	}
	for _, c := range badStreams {
		harmlessTo(t, []byte(c.good+c.bad))
	}
	r := mathrand.New(mathrand.NewSource(1))
	for range 3000 {
		var b []byte
		if r.Intn(2) == 0 {
			b = append(b, "POST / HTTP/1.1\r\nHost: a.example\r\n"...)
		}
		for range 1 + r.Intn(12) {
			b = append(b, pieces[r.Intn(len(pieces))]...)
		}
		if r.Intn(3) == 0 {
			b = mutate(r, b)
		}
		harmlessTo(t, b)
	}
}

// The comparison is worth something: without the check, both kinds of server see
// somebody else.
func TestNobodyElseIsSeenCanFail(t *testing.T) {
	said := []byte("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / " +
		"HTTP/1.1\r\nHost: b.example\r\n\r\n")
	if !slices.Contains(naiveHosts(said, false), "b.example") || slices.Contains(naiveHosts(said, true), "b.example") {
		t.Errorf("naive servers see %v and %v", naiveHosts(said, false), naiveHosts(said, true))
	}
	said = []byte(get + "\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
	if list := hosts(said); !slices.Contains(list, "b.example") {
		t.Errorf("net/http sees %v", list)
	}
}

func FuzzRequests(f *testing.F) {
	for _, c := range goodStreams {
		f.Add([]byte(c.said))
	}
	for _, c := range badStreams {
		if len(c.good+c.bad) < 4096 {
			f.Add([]byte(c.good + c.bad))
		}
	}
	f.Fuzz(harmlessTo)
}
