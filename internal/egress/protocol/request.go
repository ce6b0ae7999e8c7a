package protocol

import (
	"errors"
	"io"
	"strings"
	"time"
)

// Requests reads what a client of HTTP/1 sends, as far as it may be sent on: each
// request only after its head was checked, and every byte as it came. It is
// stricter than servers are: what two of them might read in two ways is refused,
// so that the server cannot see a request that was not seen here.
type Requests struct {
	r    io.Reader
	name string
	port uint16

	in   []byte // read, and not given out
	pass int    // how much of in may be given out
	late error  // what the reader said with its last bytes
	err  error  // the end of it all

	stage   stage
	scan    HeadScan
	left    int64  // of a body with a length
	chunks  chunks // of one without
	later   bool   // a request came before
	Verdict Verdict
}

// stage is what comes next.
type stage int

const (
	atHead stage = iota
	atBody
	atChunks
	atTrailer
	atAnswer // nothing, until the server has answered
	atTunnel // whatever the client and the server have agreed on
)

// NewRequests checks what was read and what r has, for one name and port.
func NewRequests(r io.Reader, read []byte, name string, port uint16) *Requests {
	q := &Requests{r: r, in: read, name: name, port: port}
	q.scan.Limit = maxOpening
	q.Verdict.told = make(chan struct{})
	return q
}

// Read reads what may be sent on. The first request that may not be is a
// *StrangerError, and the end. While nothing is read there is no buffer here: the
// caller's is used.
func (q *Requests) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if q.pass > 0 {
			return q.give(p), nil
		}
		if q.err != nil {
			return 0, q.err
		}
		n, err := q.step(p)
		if err != nil {
			q.err, q.in = err, q.in[:q.pass]
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

func (q *Requests) give(p []byte) int {
	n := copy(p, q.in[:q.pass])
	q.in, q.pass = q.in[n:], q.pass-n
	if len(q.in) == 0 {
		q.in = nil
	}
	return n
}

// step goes on by one stage, or by what there is to read. It may have put
// something into p.
func (q *Requests) step(p []byte) (int, error) {
	switch q.stage {
	case atHead, atTrailer:
		return 0, q.collect(p)
	case atAnswer:
		return 0, q.await(p)
	}
	return q.stream(p)
}

// collect reads until a head or a trailer is whole, and checks it.
func (q *Requests) collect(p []byte) error {
	end, err := q.scan.Find(q.in)
	if err != nil {
		return err
	}
	if end == 0 {
		return q.more(p)
	}
	if q.stage == atTrailer {
		err = checkTrailer(q.in[:end])
		q.stage = atHead
	} else {
		q.stage, err = q.check(q.in[:end])
	}
	if err != nil {
		return err
	}
	q.pass, q.scan = end, HeadScan{Limit: maxOpening}
	if q.stage == atChunks {
		q.scan.Limit = maxTrailer
	}
	return nil
}

// more reads into p, which is there, and keeps it.
func (q *Requests) more(p []byte) error {
	n, err := q.read(p)
	if errors.Is(err, io.EOF) && (len(q.in) > 0 || q.stage == atTrailer) {
		return io.ErrUnexpectedEOF
	}
	q.in = append(q.in, p[:n]...)
	return err
}

// read reads at least a byte, or says why not.
func (q *Requests) read(p []byte) (int, error) {
	if q.late != nil {
		return 0, q.late
	}
	n, err := readSome(q.r, p)
	if n > 0 {
		q.late, err = err, nil
	}
	return n, err
}

// stream gives out as much as belongs to a body.
func (q *Requests) stream(p []byte) (int, error) {
	if len(q.in) > 0 {
		n, err := q.accept(q.in)
		q.pass = n
		return 0, err
	}
	n, err := q.read(p)
	if err != nil {
		return 0, err
	}
	k, err := q.accept(p[:n])
	if err == nil && k < n {
		q.in = append(q.in, p[k:n]...)
	}
	return k, err
}

// accept is how many bytes belong to what is being read.
func (q *Requests) accept(b []byte) (int, error) {
	if q.stage == atChunks {
		n, last, err := q.chunks.accept(b)
		if last {
			q.stage = atTrailer
		}
		return n, err
	}
	n := int(min(q.left, int64(len(b))))
	if q.stage == atTunnel {
		return n, nil
	}
	if q.left -= int64(n); q.left == 0 {
		q.stage = atHead
	}
	return n, nil
}

// check reads the head of a request, and is what comes after it.
func (q *Requests) check(block []byte) (stage, error) {
	h, err := ParseHead(block)
	if err != nil {
		return atHead, err
	}
	for _, check := range [...]func(*Head) error{q.checkHost, q.checkTarget, checkExpect, checkConnection, q.checkUpgrade} {
		if err := check(h); err != nil {
			return atHead, err
		}
	}
	f, err := h.framed()
	if err != nil {
		return atHead, err
	}
	q.left, q.later = f.length, true
	switch {
	case h.upgrades() && (f.chunked || f.length > 0):
		return atHead, Strangef("the request asks for another protocol and has a body")
	case h.upgrades():
		return atAnswer, nil
	case f.chunked:
		return atChunks, nil
	case f.length > 0:
		return atBody, nil
	}
	return atHead, nil
}

func (q *Requests) checkHost(h *Head) error {
	name, port, err := h.host()
	if err != nil {
		return err
	}
	if port == 0 {
		port = q.port // some leave it away where they should not; the name is what servers go by
	}
	return q.same(name, port)
}

func (q *Requests) same(name string, port uint16) error {
	switch {
	case name != q.name:
		return &StrangerError{name, "the request is for " + name + ", and the connection for " + q.name}
	case port != q.port:
		return &StrangerError{name, Strangef("the request is for port %d of %s, and the connection for %d", port, name, q.port).why}
	}
	return nil
}

// checkTarget lets through a path, and a URL of the same server: to a server, that
// is as good as its Host and better.
func (q *Requests) checkTarget(h *Head) error {
	const scheme = "http://"
	switch {
	case h.Method == "CONNECT":
		return Strangef("the request is a CONNECT, to %.300q: there is no proxy here", h.Target)
	case h.Target[0] == '/', h.Target == "*" && h.Method == "OPTIONS":
		return nil
	case len(h.Target) < len(scheme) || !strings.EqualFold(h.Target[:len(scheme)], scheme):
		return Strangef("the request's target %.300q is neither a path nor a URL of HTTP", h.Target)
	}
	authority := h.Target[len(scheme):]
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	name, port, err := parseAuthority(authority)
	if err != nil {
		return err
	}
	if port == 0 {
		port = 80
	}
	return q.same(name, port)
}

// checkExpect lets through the one expectation that there is: others have made
// servers lose count of the bodies.
func checkExpect(h *Head) error {
	expected := h.All("Expect")
	if len(expected) > 1 || len(expected) == 1 && !strings.EqualFold(expected[0], "100-continue") {
		return Strangef("the request expects %.100q; only 100-continue is allowed", expected)
	}
	return nil
}

// checkConnection refuses to have a server's gateway take away what says whom a
// request is for and where it ends.
func checkConnection(h *Head) error {
	for _, list := range h.All("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			switch name = strings.ToLower(strings.Trim(name, " \t")); name {
			case "host", "content-length", "transfer-encoding":
				return Strangef("the request names the field %s in its Connection field", name)
			}
		}
	}
	return nil
}

// wishes are the protocols that a request asks for instead of HTTP/1: those in which
// a server is named again, which are HTTP/2 and TLS, and others.
func (h *Head) wishes() (naming, other []string) {
	for _, list := range h.All("Upgrade") {
		for p := range strings.SplitSeq(list, ",") {
			if p = strings.Trim(p, " \t"); carriesNames(p) {
				naming = append(naming, p)
			} else {
				other = append(other, p)
			}
		}
	}
	if len(h.All("HTTP2-Settings")) > 0 {
		naming = append(naming, "h2c")
	}
	return naming, other
}

// upgrades reports whether a request may lead to another protocol. One in which a
// server is named again never does: what begins it is no request, and refused.
func (h *Head) upgrades() bool { _, other := h.wishes(); return len(other) > 0 }

// checkUpgrade lets a client ask for another protocol with its first request: that
// is the one which the server's first answer answers.
func (q *Requests) checkUpgrade(h *Head) error {
	naming, other := h.wishes()
	body := len(h.All("Transfer-Encoding"))+len(h.All("Content-Length")) > 0
	switch {
	case len(naming) > 0 && (len(other) > 0 || body):
		return Strangef("the request asks for %.100q, a protocol in which other servers could be named", naming[0])
	case len(other) > 0 && q.later:
		return Strangef("the request asks for another protocol, and is not the first of its connection")
	case len(other) > 0 && h.Minor == 0:
		return Strangef("the request asks for another protocol, which HTTP/1.0 does not know")
	}
	return nil
}

// carriesNames reports whether a protocol names a server again, however it is
// spelled: HTTP/2 and its drafts, TLS, and what leads on to other servers.
func carriesNames(protocol string) bool {
	name := strings.ToLower(strings.Trim(protocol, `"'`))
	if end := strings.IndexFunc(name, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }); end >= 0 {
		name = name[:end]
	}
	switch name {
	case "h2", "h2c", "h3", "http", "tls", "connect", "":
		return true
	}
	return false
}

// answerPatience is how long a client that did not wait for the answer has to.
const answerPatience = 60 * time.Second

// await holds what a client sends after it has asked for another protocol, until
// the server has said whether it will have it. The client is read first: when it is
// gone, nobody waits.
func (q *Requests) await(p []byte) error {
	if len(q.in) == 0 {
		return q.more(p)
	}
	switched, err := q.Verdict.wait(answerPatience)
	if err != nil {
		return err
	}
	q.stage = atHead
	if switched {
		q.stage, q.left = atTunnel, endless
	}
	return nil
}

// Settled is what to read from on, once nothing has to be looked at any more.
func (q *Requests) Settled() io.Reader {
	if q.stage != atTunnel || len(q.in) > 0 || q.late != nil {
		return nil
	}
	return q.r
}
