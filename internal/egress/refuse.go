package egress

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"cordon/internal/egress/protocol"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
)

const (
	// hearing is how long a client may take to say what it wants, where that is
	// needed to decide.
	hearing = 10 * time.Second
	// parting is how long a refused client is heard.
	parting = 3 * time.Second
)

// refuse records why a connection is refused and tells its client, as far as the
// client's protocol has words for it.
func (n *Network) refuse(c *net.TCPConn, t target.Target, from, to netip.AddrPort, why error) {
	n.record(refusal(why), t, from, to)
	if !protocol.SpeaksFirst(to.Port()) {
		reset(c)
		return
	}
	_ = c.SetDeadline(time.Now().Add(parting)) // a closed one says so when it is read
	o, err := protocol.ReadOpening(c)
	if err != nil && len(o.Read) == 0 {
		reset(c)
		return
	}
	tell(c, o.Protocol, why)
}

// tell answers a client that is refused, and ends its connection.
func tell(c *net.TCPConn, p protocol.Kind, why error) {
	var words []byte
	switch p {
	case protocol.HTTP:
		words = protocol.RefusalHTTP(why.Error())
	case protocol.TLS:
		words = protocol.RefusalTLS()
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

// refusal is the record of a connection that is refused.
func refusal(why error) record.Record {
	r := record.Record{Kind: record.Connect, Verdict: record.Refused, Reason: why.Error()}
	var refused *target.RefusedError
	if errors.As(why, &refused) {
		r.Allow = refused.Allow
	}
	return r
}

// isRefusal reports whether an error is ours to explain, rather than the other
// side's.
func isRefusal(err error) bool {
	var refused *target.RefusedError
	var strange *protocol.StrangerError
	return errors.As(err, &refused) || errors.As(err, &strange)
}
