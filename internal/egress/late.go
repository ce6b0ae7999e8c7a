package egress

import (
	"bytes"
	"errors"
	"fmt"
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

// firstGood lets a connection count as allowed with its first request.
type firstGood struct {
	io.Reader
	link *link
}

func (f *firstGood) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if n > 0 {
		f.link.allow()
	}
	return n, err
}

// settled is nil while requests have to be looked at.
func (f *firstGood) settled() io.Reader {
	if s, ok := f.Reader.(settler); ok {
		return s.settled()
	}
	return nil
}

// late checks the beginning of what a client says when it says it: at ports where
// the server may be the first to speak.
type late struct {
	link *link
	in   io.Reader
}

func (r *late) Read(p []byte) (int, error) {
	if r.in == nil {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	return r.in.Read(p)
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
	var broken net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF) && o.protocol == otherProtocol && len(o.read) > 0: // nothing more will come
	case errors.Is(err, io.EOF) && len(o.read) == 0, errors.As(err, &broken) && !broken.Timeout(), isRefusal(err):
		return err
	default:
		return &strangerError{"", fmt.Sprintf("its beginning could not be read (%v)", err)}
	}
	if err := stranger(o, l.target); err != nil {
		return err
	}
	said := &saying{}
	if o.protocol == httpProtocol {
		said.requests = newRequests(l.client, o.read, l.target.name, l.target.port)
		r.in = said.requests
	} else {
		r.in = &begun{o.read, l.client}
	}
	l.saying.Store(said)
	return nil
}

func (r *late) settled() io.Reader {
	switch in := r.in.(type) {
	case *begun:
		return in
	case settler:
		return in.settled()
	}
	return nil
}

// saying is what a client was found to say.
type saying struct{ requests *requests } // nil: nothing that has to be looked at

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
	if n == 0 || said == nil || said.requests == nil {
		return n, err
	}
	// The first answer to a request: it was asked for before it came.
	r.in = said.requests.answers(io.MultiReader(bytes.NewReader(slices.Clone(p[:n])), r.link.server))
	return r.in.Read(p)
}

func (r *lateAnswers) settled() io.Reader {
	if said := r.link.saying.Load(); r.in == nil && said != nil && said.requests == nil {
		return r.link.server
	}
	return nil
}
