package protocol

import (
	"bytes"
	"io"
	"net"
)

// A server of TLS 1.3 may ask a client for a second hello. It is in the clear too,
// and could be for another server than the first.

// The kinds of records that may come between the two.
const (
	recordChange = 0x14
	recordData   = 0x17
)

const serverHello = 2

// retryRandom is what a server's hello has for a random number when it asks for
// another hello: RFC 8446, section 4.1.3.
const retryRandom = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91" +
	"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"

// Hellos is what a TLS client says: its hello, which was checked, and what follows,
// until it is known to be no second one.
type Hellos struct {
	name    string // of the server, which the first hello was for
	port    uint16
	client  *net.TCPConn
	out     []byte // may be passed on
	in      []byte // was read and not looked at
	left    int    // of a record that passes
	free    bool   // nothing has to be looked at any more
	Verdict Verdict
}

// NewHellos goes on from a hello that was checked, for one name and port.
func NewHellos(o Opening, client *net.TCPConn, name string, port uint16) *Hellos {
	return &Hellos{name: name, port: port, client: client, out: o.Read[:o.Hello], in: o.Read[o.Hello:], Verdict: Verdict{told: make(chan struct{})}}
}

// Read reads what may be sent on.
func (h *Hellos) Read(p []byte) (int, error) {
	for {
		if n := copy(p, h.out); n > 0 {
			h.out = h.out[n:]
			return n, nil
		}
		rest := &Begun{h.in, h.client}
		if h.free {
			n, err := rest.Read(p)
			h.in = rest.First
			return n, err
		}
		if h.left > 0 {
			n, err := rest.Read(p[:min(len(p), h.left)])
			h.in, h.left = rest.First, h.left-n
			return n, err
		}
		if err := h.next(rest); err != nil {
			return 0, err
		}
	}
}

// next looks at the next record.
func (h *Hellos) next(rest *Begun) error {
	head := make([]byte, recordHeader)
	n, err := io.ReadFull(rest, head)
	h.in = rest.First
	if err != nil {
		h.out = head[:n]
		if n > 0 {
			err = nil // the end is read once more
			h.free = true
		}
		return err
	}
	again, known := h.Verdict.now()
	between := head[0] == recordChange || head[0] == recordAlert || head[0] == recordData
	if between && (again || !known) {
		h.out, h.left = head, int(head[3])<<8|int(head[4])
		return nil
	}
	if !known {
		if again, err = h.Verdict.wait(answerPatience); err != nil {
			return err
		}
	}
	h.free, h.in = true, append(head, h.in...)
	if !again {
		return nil
	}
	o, err := ReadOpening(&Begun{h.in, h.client})
	if err == nil && o.Protocol != TLS {
		err = Strangef("the server asked for another TLS hello, and the client sent something else")
	}
	if err == nil {
		err = CheckName(o, h.name, h.port)
	}
	h.in = o.Read
	return err
}

// Settled is what to read from on, once nothing has to be looked at any more.
func (h *Hellos) Settled() io.Reader {
	if !h.free || len(h.out) > 0 {
		return nil
	}
	return &Begun{h.in, h.client}
}

// Answers wraps what the server sends.
func (h *Hellos) Answers(r io.Reader) io.Reader { return &firstRecord{r: r, verdict: &h.Verdict} }

// firstRecord is what a TLS server says: it is passed on as it is, and looked at
// until it is known whether it asks for another hello.
type firstRecord struct {
	r       io.Reader
	verdict *Verdict
	read    []byte // nil when that is known
	done    bool
}

func (f *firstRecord) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if f.done {
		return n, err
	}
	f.read = append(f.read, p[:n]...)
	if again, known := asksAgain(f.read); known || err != nil {
		f.done, f.read = true, nil
		f.verdict.Tell(again)
	}
	return n, err
}

func (f *firstRecord) Settled() io.Reader {
	if !f.done {
		return nil
	}
	return f.r
}

// asksAgain reports whether what a server says begins with the wish for another
// hello. What cannot be read after some time is taken for one: then the client has
// to say a hello, or nothing.
func asksAgain(said []byte) (again, known bool) {
	const random = messageHeader + 2
	var message []byte
	for b := said; len(b) > recordHeader; {
		size := int(b[3])<<8 | int(b[4])
		if b[0] == recordChange || b[0] == recordAlert { // some pass over these
			b = b[min(len(b), recordHeader+size):]
			continue
		}
		if b[0] != recordHandshake {
			return false, true
		}
		b = b[recordHeader:]
		message = append(message, b[:min(size, len(b))]...)
		if message = message[:min(len(message), random+len(retryRandom))]; len(message) > 0 && message[0] != serverHello {
			return false, true
		}
		if len(message) == random+len(retryRandom) {
			return bytes.Equal(message[random:], []byte(retryRandom)), true
		}
		b = b[min(size, len(b)):]
	}
	return true, len(said) > maxOpening
}
