package protocol

import (
	"bytes"
	"io"
	"net"
	"slices"
)

// Begun is a connection of which something was read already.
type Begun struct {
	First []byte
	Rest  *net.TCPConn
}

// Read reads what was read already, then from the connection.
func (b *Begun) Read(p []byte) (int, error) {
	if len(b.First) == 0 {
		return b.Rest.Read(p)
	}
	n := copy(p, b.First)
	b.First = b.First[n:]
	return n, nil
}

// Ahead is a stream of requests of which something was read already.
type Ahead struct {
	First []byte
	*Requests
}

// Read reads what was read already, then further requests.
func (a *Ahead) Read(p []byte) (int, error) {
	if len(a.First) == 0 {
		return a.Requests.Read(p)
	}
	n := copy(p, a.First)
	a.First = a.First[n:]
	return n, nil
}

// Settled is what to read from on, once nothing has to be looked at any more.
func (a *Ahead) Settled() io.Reader {
	if len(a.First) > 0 {
		return nil
	}
	return a.Requests.Settled()
}

// FirstLine looks for a request in the first line of what was taken for something
// else: some servers take much for one. What is none by the end of that line passes.
type FirstLine struct {
	In   *Begun
	last []byte // what was passed on of the line, as far as a word may begin in it
	seen int
	done bool
}

var requestWord = []byte("HTTP/")

// Read reads what may be passed on.
func (f *FirstLine) Read(p []byte) (int, error) {
	n, err := f.In.Read(p)
	if f.done || n == 0 {
		return n, err
	}
	if f.seen == 0 && fromProxy(f.In, p[:n]) {
		return 0, Strangef("it begins with the header of a load balancer, after which anything could follow")
	}
	line, _, ended := bytes.Cut(p[:n], []byte("\n"))
	line = append(f.last, line...)
	if bytes.Contains(bytes.ToUpper(line), requestWord) {
		return 0, Strangef("it looks like a request, but cannot be read as one")
	}
	f.last = slices.Clone(line[max(0, len(line)-len(requestWord)+1):])
	f.seen += n
	f.done = ended || f.seen > maxOpening
	return n, err
}

// fromProxy reports whether a stream begins as load balancers begin theirs, before
// what they pass on.
func fromProxy(rest *Begun, b []byte) bool {
	start := slices.Concat(b, rest.First)
	return bytes.HasPrefix(start, []byte("PROXY ")) || bytes.HasPrefix(start, []byte("\r\n\r\n\x00"))
}

// Settled is what to read from on, once the first line has ended.
func (f *FirstLine) Settled() io.Reader {
	if !f.done {
		return nil
	}
	return f.In
}

// Settler is a reader that may have nothing more to look at.
type Settler interface {
	Settled() io.Reader // what to read from then on; nil: not yet
}
