// Package protocol reads what a client says, as far as it is needed to know whom it
// talks to: the TLS hello, a second hello, and the head of every request of HTTP/1.
//
// It refuses what servers might read in two ways: a hello or a request that names
// another server or hides its name, and a request whose end is not certain. It opens
// no connection and changes no byte: package egress relays what is passed on here.
package protocol

import (
	"bytes"
	"errors"
	"io"
)

// maxOpening bounds what is read of a connection before it is known what it is:
// a whole TLS hello, or the whole head of a request.
const maxOpening = 32 << 10

// Kind is what a client speaks, as far as it is looked at here.
type Kind int

const (
	Other Kind = iota
	TLS
	HTTP
)

// Opening is the beginning of what a client says.
type Opening struct {
	Protocol Kind
	Name     string // that it asks for, clean; "" where it names none that can be read
	hidden   bool   // there is another name, that only the server can read
	Read     []byte // everything that was read
	Hello    int    // how much of that is the TLS hello
}

// ReadOpening reads until it can tell what a client speaks and whom it asks for,
// and no further than a read happens to go. Whatever was read comes back with an
// error, too. A hello that cannot be read and an opening that is too long are a
// *StrangerError; a request that cannot be read has no name, and NewRequests says
// why.
func ReadOpening(r io.Reader) (Opening, error) {
	in := &prefix{r: r}
	o := Opening{}
	err := o.recognise(in)
	switch {
	case err != nil:
	case o.Protocol == TLS:
		o.Name, o.hidden, err = in.hello()
	case o.Protocol == HTTP:
		o.Name, err = in.host()
	}
	o.Read, o.Hello = in.b, in.whole
	return o, err
}

// recognise reads until the protocol is known.
func (o *Opening) recognise(in *prefix) error {
	if err := in.need(1); err != nil {
		return err
	}
	if in.b[0] == recordHandshake || in.b[0] == recordAlert {
		is, err := in.looksTLS()
		if is {
			o.Protocol = TLS
		}
		return err
	}
	if in.b[0]&0x80 != 0 {
		return o.recogniseOld(in)
	}
	for g := (guess{}); ; {
		if is, known := g.look(in.b); known {
			if is {
				o.Protocol = HTTP
			}
			return nil
		}
		err := in.more()
		var long *StrangerError
		if errors.As(err, &long) {
			// A request line without an end: who passes on what is not HTTP must not
			// take it for that.
			o.Protocol = HTTP
		}
		if err != nil {
			return err
		}
	}
}

// recogniseOld finds hellos in the form of SSL 2, in which a server has no name.
func (o *Opening) recogniseOld(in *prefix) error {
	if err := in.need(4); err != nil {
		return err
	}
	if in.b[2] == clientHello && (in.b[3] == 0 || in.b[3] == recordMajor) {
		o.Protocol = TLS
		return Strangef("the TLS hello has a form that names no server")
	}
	return nil
}

// looksTLS tells TLS by the first record. Like guess it knows more than is let
// through: some servers care little for a record's version, and pass over alerts
// before the hello.
func (p *prefix) looksTLS() (bool, error) {
	if err := p.need(2); err != nil {
		return false, err
	}
	if p.b[1] == recordMajor || p.b[1] >= 0x10 {
		return p.b[1] == recordMajor, nil
	}
	err := p.need(recordHeader + 1)
	return err == nil && p.b[recordHeader] == clientHello, err // 1 is an alert that is only a warning, too
}

// prefix is the beginning of a stream.
type prefix struct {
	r     io.Reader
	b     []byte // all that was read
	whole int    // what of it is a hello
	late  error  // what the reader said with its last bytes
}

// need reads until there are n bytes.
func (p *prefix) need(n int) error {
	for len(p.b) < n {
		if err := p.more(); err != nil {
			return err
		}
	}
	return nil
}

// more reads something.
func (p *prefix) more() error {
	if p.late != nil {
		return p.late
	}
	if len(p.b) >= maxOpening {
		return &StrangerError{"", "its beginning is longer than 32 KiB"}
	}
	if len(p.b) == cap(p.b) {
		grown := make([]byte, len(p.b), min(max(2048, 2*cap(p.b)), maxOpening))
		copy(grown, p.b)
		p.b = grown
	}
	n, err := readSome(p.r, p.b[len(p.b):cap(p.b)])
	p.b = p.b[:len(p.b)+n]
	if n > 0 {
		p.late = err
		return nil
	}
	return err
}

// readSome reads at least a byte, or says why not. A reader that does neither is
// not asked for ever.
func readSome(r io.Reader, p []byte) (int, error) {
	for range 100 {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// guess tells a request from anything else by its first line. It knows more for a
// request than is let through, because what it does not know may pass unchecked at
// ports where any protocol may: servers skip empty lines before a request, take any
// method, and some take tabs for spaces.
type guess struct {
	at    int // how much was looked at
	start int // where the line begins
	rest  bool
}

// maxMethod is far longer than any method; some servers take any token for one.
const maxMethod = 1024

// look says whether bytes begin a request, once that is known.
func (g *guess) look(b []byte) (is, known bool) {
	for ; g.at < len(b); g.at++ {
		c := b[g.at]
		end := c == '\r' || c == '\n'
		switch {
		case g.at == g.start && end:
			g.start++
		case g.rest && end:
			return bytes.Contains(b[g.start:g.at], []byte("HTTP/")), true
		case g.at > g.start && (c == ' ' || c == '\t'):
			g.rest = true
		case c < ' ' || c == 0x7f, !g.rest && (!tokenByte(c) || g.at-g.start >= maxMethod):
			return false, true
		}
	}
	return false, false
}

// host reads the head of a request and is the name that it asks for, "" where the
// head is not as it has to be.
func (p *prefix) host() (string, error) {
	scan := HeadScan{Limit: maxOpening}
	for {
		end, err := scan.Find(p.b)
		if err != nil {
			return "", nil // said by NewRequests
		}
		if end > 0 {
			return hostOf(p.b[:end]), nil
		}
		if err := p.more(); err != nil {
			return "", err
		}
	}
}

func hostOf(block []byte) string {
	h, err := ParseHead(block)
	if err != nil {
		return ""
	}
	name, _, err := h.host()
	if err != nil {
		return ""
	}
	return name
}

// SpeaksFirst reports whether clients at a port say at once what they want.
func SpeaksFirst(port uint16) bool { return port == 80 || port == 443 }

// CheckName checks the beginning of a connection against the name that it is for.
func CheckName(o Opening, name string, port uint16) error {
	switch {
	case o.Protocol == TLS && o.hidden:
		return &StrangerError{o.Name, "the TLS hello hides the server's name (encrypted client hello)"}
	case o.Protocol == TLS && o.Name == "":
		return &StrangerError{o.Name, "the TLS hello names no server"}
	case o.Protocol == TLS && o.Name != name:
		return &StrangerError{o.Name, "the TLS hello is for " + o.Name + ", and the connection for " + name}
	case o.Protocol == Other && SpeaksFirst(port):
		return &StrangerError{"", "it is neither TLS nor HTTP, so its name cannot be checked"}
	}
	return nil
}
