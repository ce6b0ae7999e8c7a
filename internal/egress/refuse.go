package egress

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

const (
	// hearing is how long a client may take to say what it wants, where that is
	// needed to decide.
	hearing = 10 * time.Second
	// parting is how long a refused client is heard.
	parting = 3 * time.Second
)

// speaksFirst reports whether clients at a port say at once what they want.
func speaksFirst(port uint16) bool { return port == 80 || port == 443 }

// refuse records why a connection is refused and tells its client, as far as the
// client's protocol has words for it.
func (n *Network) refuse(c *net.TCPConn, t target, from, to netip.AddrPort, why error) {
	n.record(refusal(why), t, from, to)
	if !speaksFirst(to.Port()) {
		reset(c)
		return
	}
	_ = c.SetDeadline(time.Now().Add(parting)) // a closed one says so when it is read
	o, err := readOpening(c)
	if err != nil && len(o.read) == 0 {
		reset(c)
		return
	}
	tell(c, o.protocol, why)
}

// tell answers a client that is refused, and ends its connection.
func tell(c *net.TCPConn, p protocol, why error) {
	var words []byte
	switch p {
	case httpProtocol:
		words = refusalHTTP(why.Error())
	case tlsProtocol:
		words = refusalTLS()
	default:
		reset(c)
		return
	}
	_ = c.SetDeadline(time.Now().Add(parting))
	if _, err := c.Write(words); err != nil {
		reset(c)
		return
	}
	// What the client still sends is read: closing before that would take the
	// words back.
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, io.LimitReader(c, 1<<20))
	c.Close()
}

// stranger checks the beginning of a connection against the name that it is for.
func stranger(o opening, t target) error {
	switch {
	case o.protocol == tlsProtocol && o.hidden:
		return &strangerError{o.name, "the TLS hello hides the server's name (encrypted client hello)"}
	case o.protocol == tlsProtocol && o.name == "":
		return &strangerError{o.name, "the TLS hello names no server"}
	case o.protocol == tlsProtocol && o.name != t.name:
		return &strangerError{o.name, "the TLS hello is for " + o.name + ", and the connection for " + t.name}
	case o.protocol == otherProtocol && speaksFirst(t.port):
		return &strangerError{"", "it is neither TLS nor HTTP, so that its name cannot be checked"}
	}
	return nil
}

// refusal is the record of a connection that is refused.
func refusal(why error) Record {
	r := Record{Kind: Connect, Verdict: Refused, Reason: why.Error()}
	var refused *refusedError
	if errors.As(why, &refused) {
		r.Allow = refused.allow
	}
	return r
}

// isRefusal reports whether an error is ours to explain, rather than the other
// side's.
func isRefusal(err error) bool {
	var refused *refusedError
	var strange *strangerError
	return errors.As(err, &refused) || errors.As(err, &strange)
}
