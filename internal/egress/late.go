package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// begun is a connection of which something was read already.
type begun struct {
	read []byte
	rest *net.TCPConn
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) == 0 {
		return b.rest.Read(p)
	}
	n := copy(p, b.read)
	b.read = b.read[n:]
	return n, nil
}

// ahead is a stream of requests of which something was read already.
type ahead struct {
	first []byte
	*requests
}

func (a *ahead) Read(p []byte) (int, error) {
	if len(a.first) == 0 {
		return a.requests.Read(p)
	}
	n := copy(p, a.first)
	a.first = a.first[n:]
	return n, nil
}

func (a *ahead) settled() io.Reader {
	if len(a.first) > 0 {
		return nil
	}
	return a.requests.settled()
}

// saying is what a client was found to say, as far as its server's answers matter
// for it.
type saying struct {
	verdict *verdict                  // that the client's side may wait for; nil: none
	answers func(io.Reader) io.Reader // nil: they do not
}

// wrap is what the server says, looked at where that matters.
func (s *saying) wrap(server *net.TCPConn) io.Reader {
	if s == nil || s.answers == nil {
		return server
	}
	return s.answers(server)
}

// over ends the waiting for an answer that will not come.
func (s *saying) over() {
	if s.verdict != nil {
		s.verdict.tell(false)
	}
}

// late checks the beginning of what a client says when it says it: at ports where
// the server may be the first to speak.
type late struct{ link *link }

func (r *late) Read(p []byte) (int, error) {
	if r.link.heard == nil {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	return r.link.heard.Read(p)
}

func (r *late) begin() error {
	l := r.link
	// Who listens first may do so for long. Who has begun to speak goes on.
	if _, err := peek(l.client, make([]byte, 1)); err != nil {
		return err
	}
	_ = l.client.SetReadDeadline(time.Now().Add(hearing)) // a closed one says so when it is read
	o, err := readOpening(l.client)
	_ = l.client.SetReadDeadline(time.Time{})
	l.spoken = o.protocol
	var slow net.Error
	switch {
	case errors.Is(err, io.EOF) && o.protocol == otherProtocol && len(o.read) > 0: // nothing more will come
	case errors.As(err, &slow) && slow.Timeout():
		return strange("the client did not say in time what it wants")
	case err != nil:
		return err
	}
	return l.listen(o)
}

func (r *late) settled() io.Reader {
	if s, ok := r.link.heard.(settler); ok {
		return s.settled()
	}
	return nil
}

// lateAnswers is what the server says to it.
type lateAnswers struct {
	link *link
	in   io.Reader
}

func (r *lateAnswers) Read(p []byte) (int, error) {
	if r.in != nil {
		return r.in.Read(p)
	}
	n, err := r.link.server.Read(p)
	said := r.link.saying.Load()
	if n == 0 || said == nil || said.answers == nil {
		return n, err
	}
	// The first answer to what was said: it was asked for before it came.
	r.in = said.answers(io.MultiReader(bytes.NewReader(slices.Clone(p[:n])), r.link.server))
	return r.in.Read(p)
}

func (r *lateAnswers) settled() io.Reader {
	if said := r.link.saying.Load(); r.in == nil && said != nil && said.answers == nil {
		return r.link.server
	}
	return nil
}

// firstLine looks for a request in the first line of what was taken for something
// else: some servers take much for one. What is none by the end of that line passes.
type firstLine struct {
	in   *begun
	last []byte // what was passed on of the line, as far as a word may begin in it
	seen int
	done bool
}

var requestWord = []byte("HTTP/")

func (f *firstLine) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if f.done || n == 0 {
		return n, err
	}
	if f.seen == 0 && fromProxy(f.in, p[:n]) {
		return 0, strange("it says for whom it was passed on, and what follows could be anything")
	}
	line, _, ended := bytes.Cut(p[:n], []byte("\n"))
	line = append(f.last, line...)
	if bytes.Contains(bytes.ToUpper(line), requestWord) {
		return 0, strange("it has the form of a request, and none that can be read")
	}
	f.last = slices.Clone(line[max(0, len(line)-len(requestWord)+1):])
	f.seen += n
	f.done = ended || f.seen > maxOpening
	return n, err
}

// fromProxy reports whether a stream begins as load balancers begin theirs, before
// what they pass on.
func fromProxy(rest *begun, b []byte) bool {
	start := slices.Concat(b, rest.read)
	return bytes.HasPrefix(start, []byte("PROXY ")) || bytes.HasPrefix(start, []byte("\r\n\r\n\x00"))
}

func (f *firstLine) settled() io.Reader {
	if !f.done {
		return nil
	}
	return f.in
}
