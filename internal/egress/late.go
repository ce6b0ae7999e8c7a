package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"cordon/internal/egress/protocol"
)

// saying is what a client was found to say, as far as its server's answers matter
// for it.
type saying struct {
	verdict *protocol.Verdict         // that the client's side may wait for; nil: none
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
		s.verdict.Tell(false)
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
	o, err := protocol.ReadOpening(l.client)
	_ = l.client.SetReadDeadline(time.Time{})
	l.spoken = o.Protocol
	var slow net.Error
	switch {
	case errors.Is(err, io.EOF) && o.Protocol == protocol.Other && len(o.Read) > 0: // nothing more will come
	case errors.As(err, &slow) && slow.Timeout():
		return protocol.Strangef("the client did not say in time what it wants to reach")
	case err != nil:
		return err
	}
	return l.listen(o)
}

func (r *late) Settled() io.Reader {
	if s, ok := r.link.heard.(protocol.Settler); ok {
		return s.Settled()
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

func (r *lateAnswers) Settled() io.Reader {
	if said := r.link.saying.Load(); r.in == nil && said != nil && said.answers == nil {
		return r.link.server
	}
	return nil
}
