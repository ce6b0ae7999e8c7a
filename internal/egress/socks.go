package egress

import (
	"context"
	"encoding/binary"
	"io"
	"net/netip"

	"cordon/internal/egress/dns"
)

// The numbers of RFC 1928 and 1929.
const (
	socks4 = 4
	socks5 = 5

	socksNoAuth   = 0x00
	socksPassword = 0x02
	socksNoMethod = 0xff

	socksConnect = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksGranted     = 0
	socksGeneral     = 1
	socksNotAllowed  = 2
	socksUnreachable = 4
	socksNoAnswer    = 5
	socksNoCommand   = 7
	socksNoFamily    = 8
)

// serveSocks serves a client whose first byte was that of SOCKS5.
func (p *caller) serveSocks(ctx context.Context) {
	if !p.greet(p.conn) {
		p.part(nil) // it was told already
		return
	}
	host, port, code := readSocks(p.conn)
	if code != socksGranted {
		p.part(socksReply(code))
		return
	}
	t, err := p.aim(host, port)
	if err != nil {
		p.refused(t, err)
		p.part(socksReply(socksNotAllowed))
		return
	}
	p.heard()
	p.network.connect(ctx, p.conn, t, p.from, p.to, func(err error) error {
		if err == nil {
			return p.say(socksReply(socksGranted))
		}
		p.part(socksReply(socksCode(err)))
		return err
	})
}

// socksCode is the number that comes closest to an error. There is no place for
// its words.
func socksCode(err error) byte {
	switch {
	case isRefusal(err):
		return socksNotAllowed
	case dns.IsLookup(err):
		return socksUnreachable
	}
	return socksNoAnswer
}

func socksReply(code byte) []byte {
	return []byte{socks5, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}
}

// greet agrees on how a client shows who it is, and lets it.
func (p *caller) greet(rw io.ReadWriter) bool {
	methods, err := readCounted(rw)
	if err != nil {
		return false
	}
	method := p.method(methods)
	if _, err := rw.Write([]byte{socks5, method}); err != nil || method == socksNoMethod {
		return false
	}
	return method == socksNoAuth || p.password(rw)
}

// method is the way that suits: a password is asked for only where there is a token,
// or where the client knows no other way.
func (p *caller) method(offered []byte) byte {
	open, asked := false, false
	for _, m := range offered {
		open = open || m == socksNoAuth
		asked = asked || m == socksPassword
	}
	switch {
	case open && p.token == "":
		return socksNoAuth
	case asked:
		return socksPassword
	}
	return socksNoMethod
}

func (p *caller) password(rw io.ReadWriter) bool {
	var version [1]byte
	if _, err := io.ReadFull(rw, version[:]); err != nil || version[0] != 1 {
		return false
	}
	user, err := readCounted(rw)
	if err != nil {
		return false
	}
	password, err := readCounted(rw)
	if err != nil {
		return false
	}
	if !p.authorised(string(user), string(password)) {
		_, _ = rw.Write([]byte{1, 1}) // it is over either way
		return false
	}
	_, err = rw.Write([]byte{1, 0})
	return err == nil
}

// readCounted reads a byte, and as many bytes as it says.
func readCounted(r io.Reader) ([]byte, error) {
	var n [1]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, n[0])
	_, err := io.ReadFull(r, b)
	return b, err
}

// readSocks reads what a client wants to reach, or is the number of what is wrong
// with it.
func readSocks(r io.Reader) (host string, port uint16, code byte) {
	var start [4]byte // version, command, nothing, kind of address
	if _, err := io.ReadFull(r, start[:]); err != nil || start[0] != socks5 {
		return "", 0, socksGeneral
	}
	host, code = readSocksHost(r, start[3])
	if code != socksGranted {
		return "", 0, code
	}
	var number [2]byte
	if _, err := io.ReadFull(r, number[:]); err != nil {
		return "", 0, socksGeneral
	}
	port = binary.BigEndian.Uint16(number[:])
	switch {
	case start[1] != socksConnect: // listening, and UDP
		return "", 0, socksNoCommand
	case port == 0:
		return "", 0, socksGeneral
	}
	return host, port, socksGranted
}

func readSocksHost(r io.Reader, kind byte) (host string, code byte) {
	var raw []byte
	var err error
	switch kind {
	case socksName:
		raw, err = readCounted(r)
		if err != nil || len(raw) == 0 {
			return "", socksGeneral
		}
		return string(raw), socksGranted
	case socksIPv4:
		raw = make([]byte, 4)
	case socksIPv6:
		raw = make([]byte, 16)
	default:
		return "", socksNoFamily
	}
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", socksGeneral
	}
	addr, _ := netip.AddrFromSlice(raw)
	return addr.Unmap().String(), socksGranted
}
