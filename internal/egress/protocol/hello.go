package protocol

import (
	"cordon/internal/reach"
	"strings"
	"unicode/utf8"
)

// What is known of TLS here: RFC 8446, sections 4.1.2 and 5.1, and RFC 6066,
// section 3.
const (
	recordAlert     = 0x15
	recordHandshake = 0x16
	recordMajor     = 3
	recordHeader    = 5
	recordMost      = 1 << 14

	clientHello   = 1
	messageHeader = 4

	extensionServerName = 0
	nameTypeHost        = 0
)

// hidesName reports whether an extension brings a server name that is encrypted:
// encrypted_client_hello, its drafts, and encrypted_server_name before it.
func hidesName(extension uint16) bool {
	switch extension {
	case 0xff02, 0xff03, 0xff08, 0xffce:
		return true
	}
	return 0xfe08 <= extension && extension <= 0xfe0d
}

// hello reads a TLS hello and is the name of the server that it is for.
func (p *prefix) hello() (name string, hidden bool, err error) {
	message, err := p.helloMessage()
	if err != nil {
		return "", false, err
	}
	return parseHello(message)
}

// helloMessage puts the first message of a stream together from its records. It is
// the only one in them: a client waits for the answer to it.
func (p *prefix) helloMessage() ([]byte, error) {
	var message []byte
	for at, whole := 0, 0; ; {
		payload, next, err := p.record(at)
		if err != nil {
			return nil, err
		}
		message, at = append(message, payload...), next
		if message[0] != clientHello {
			return nil, Strangef("the TLS client does not begin with a hello")
		}
		if whole == 0 && len(message) >= messageHeader {
			whole = messageHeader + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		}
		switch {
		case whole > maxOpening:
			return nil, Strangef("the TLS hello is longer than 32 KiB")
		case whole > 0 && len(message) == whole:
			p.whole = at
			return message[messageHeader:], nil
		case whole > 0 && len(message) > whole:
			return nil, Strangef("the TLS hello is followed by something else in its record")
		}
	}
}

// record reads the record that begins at a place; it is never empty.
func (p *prefix) record(at int) (payload []byte, next int, err error) {
	if err := p.need(at + recordHeader); err != nil {
		return nil, 0, err
	}
	head := p.b[at : at+recordHeader]
	size := int(head[3])<<8 | int(head[4])
	switch {
	case head[0] != recordHandshake:
		return nil, 0, Strangef("the TLS hello is interrupted by another record (type %d)", head[0])
	case head[1] != recordMajor || head[2] > 4:
		return nil, 0, Strangef("the TLS hello has a record of version %d.%d", head[1], head[2])
	case size == 0 || size > recordMost:
		return nil, 0, Strangef("the TLS hello has a record of %d bytes", size)
	}
	next = at + recordHeader + size
	if err := p.need(next); err != nil {
		return nil, 0, err
	}
	return p.b[at+recordHeader : next], next, nil
}

var errHello = &StrangerError{"", "the TLS hello is malformed"}

// parseHello reads the body of a hello. A server name is in it at most once; ""
// is none.
func parseHello(message []byte) (name string, hidden bool, err error) {
	c := cursor(message)
	version, _ := c.take(2)
	_, random := c.take(32)
	session, sessions := c.vector(1)
	suites, suited := c.vector(2)
	compression, compressed := c.vector(1)
	switch {
	case !random, !sessions, !suited, !compressed:
		return "", false, errHello
	case version[0] != recordMajor, len(session) > 32, len(suites) == 0, len(suites)%2 != 0, len(compression) == 0:
		return "", false, errHello
	}
	if len(c) == 0 {
		return "", false, nil // before there were extensions
	}
	extensions, ok := c.vector(2)
	if !ok || len(c) > 0 {
		return "", false, errHello
	}
	return parseExtensions(extensions)
}

func parseExtensions(c cursor) (name string, hidden bool, err error) {
	seen := map[uint16]bool{}
	for len(c) > 0 {
		kind, ok := c.take(2)
		data, filled := c.vector(2)
		if !ok || !filled {
			return "", false, errHello
		}
		extension := uint16(kind[0])<<8 | uint16(kind[1])
		if seen[extension] {
			return "", false, Strangef("the TLS hello has extension %d twice", extension)
		}
		seen[extension] = true
		hidden = hidden || hidesName(extension)
		if extension == extensionServerName {
			if name, err = parseServerName(data); err != nil {
				return "", false, err
			}
		}
	}
	return name, hidden, nil
}

// parseServerName reads the extension. The list in it may have names of other
// kinds, of which there are none: with more than one entry, servers differ in
// which they take.
func parseServerName(c cursor) (string, error) {
	list, ok := c.vector(2)
	if !ok || len(c) > 0 {
		return "", errHello
	}
	kind, ok := list.take(1)
	host, filled := list.vector(2)
	switch {
	case !ok, !filled, len(host) == 0:
		return "", errHello
	case len(list) > 0:
		return "", Strangef("the TLS hello names several servers")
	case kind[0] != nameTypeHost:
		return "", Strangef("the TLS hello names a server by something else than a host name")
	}
	name, err := wireName(string(host))
	if err != nil {
		return "", Strangef("the TLS hello is for %.300q, which is not a host name", host)
	}
	return name, nil
}

// wireName is a name as a protocol carries it, clean. There it is ASCII already:
// whatever cleaning would map to another name means that other one in a policy, and
// something else to a server.
func wireName(s string) (string, error) {
	name, err := reach.CleanName(s)
	if err != nil {
		return "", err
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", Strangef("%.300q is not ASCII", s)
		}
	}
	if name == "" || name != strings.ToLower(strings.TrimSuffix(s, ".")) {
		return "", Strangef("%.300q is not in its canonical form", s)
	}
	return name, nil
}

// cursor takes bytes from the front of what is left.
type cursor []byte

func (c *cursor) take(n int) (cursor, bool) {
	if len(*c) < n {
		*c = nil // whatever is taken next fails, too
		return nil, false
	}
	head := (*c)[:n]
	*c = (*c)[n:]
	return head, true
}

// vector takes a length of so many bytes, and that much.
func (c *cursor) vector(size int) (cursor, bool) {
	length, ok := c.take(size)
	if !ok {
		return nil, false
	}
	n := 0
	for _, b := range length {
		n = n<<8 | int(b)
	}
	return c.take(n)
}
