package dns

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/dns/dnsmessage"
)

// What an answer is made of. None is longer than the 512 bytes that every client
// takes: a question has at most 259, one record 28 or a name's 265 where the
// question is short, and the words below the rest.
const (
	allowedTTL = 30 // seconds
	refusedTTL = 5

	answerSize = 512
	wordsRoom  = 160
	// payload is what we say to take ourselves, as everybody does now.
	payload = 1232
)

// The option that tells a client why, and the code of it that says: blocked.
const (
	explanation = 15
	blocked     = 15
)

// reply is what is answered to a query.
type reply struct {
	code dnsmessage.RCode
	addr netip.Addr // of the family that was asked for
	name string     // of an address
	ttl  uint32
	why  string // it is refused
}

// pack makes the message, or nothing where that cannot be.
func (q *query) pack(r reply) []byte {
	h := dnsmessage.Header{
		ID: q.header.ID, Response: true, OpCode: q.header.OpCode, RCode: r.code & 0xf,
		RecursionDesired: q.header.RecursionDesired, CheckingDisabled: q.header.CheckingDisabled,
		// Without this, an empty answer is taken for a server that knows no better.
		RecursionAvailable: true,
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, answerSize), h)
	b.EnableCompression()
	if q.packQuestion(&b) != nil || q.packRecord(&b, r) != nil || q.packExtension(&b, r) != nil {
		return nil
	}
	msg, err := b.Finish()
	if err != nil || len(msg) > answerSize {
		return nil
	}
	return msg
}

func (q *query) packQuestion(b *dnsmessage.Builder) error {
	if !q.asked {
		return nil
	}
	if err := b.StartQuestions(); err != nil {
		return err
	}
	return b.Question(q.question)
}

func (q *query) packRecord(b *dnsmessage.Builder, r reply) error {
	if !r.addr.IsValid() && r.name == "" {
		return nil
	}
	if err := b.StartAnswers(); err != nil {
		return err
	}
	h := dnsmessage.ResourceHeader{Name: q.question.Name, Class: dnsmessage.ClassINET, TTL: r.ttl}
	switch {
	case r.name != "":
		name, err := dnsmessage.NewName(r.name + ".")
		if err != nil {
			return err
		}
		return b.PTRResource(h, dnsmessage.PTRResource{PTR: name})
	case r.addr.Is4():
		return b.AResource(h, dnsmessage.AResource{A: r.addr.As4()})
	}
	return b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: r.addr.As16()})
}

// packExtension answers EDNS with EDNS, and only that.
func (q *query) packExtension(b *dnsmessage.Builder, r reply) error {
	if !q.extended {
		return nil
	}
	if err := b.StartAdditionals(); err != nil {
		return err
	}
	var h dnsmessage.ResourceHeader
	if err := h.SetEDNS0(payload, r.code, false); err != nil {
		return err
	}
	var body dnsmessage.OPTResource
	if r.why != "" {
		data := binary.BigEndian.AppendUint16(nil, blocked)
		body.Options = []dnsmessage.Option{{Code: explanation, Data: append(data, shortened(r.why)...)}}
	}
	return b.OPTResource(h, body)
}

// shortened cuts a text where an answer has no more room, between two letters.
func shortened(s string) string {
	if len(s) <= wordsRoom {
		return s
	}
	n := wordsRoom
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// reversed is the address that a name below arpa asks the name of.
func reversed(name string) (netip.Addr, bool) {
	if digits, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		p := strings.Split(digits, ".")
		if len(p) != 4 {
			return netip.Addr{}, false
		}
		a, err := netip.ParseAddr(p[3] + "." + p[2] + "." + p[1] + "." + p[0])
		return a, err == nil
	}
	digits, ok := strings.CutSuffix(name, ".ip6.arpa")
	if !ok || len(digits) != 63 {
		return netip.Addr{}, false
	}
	var text strings.Builder
	for i := 62; i >= 0; i-- {
		switch at := 62 - i; {
		case at%2 == 1 && digits[i] != '.':
			return netip.Addr{}, false
		case at%2 == 0:
			text.WriteByte(digits[i])
			if at%8 == 6 && i > 0 {
				text.WriteByte(':')
			}
		}
	}
	a, err := netip.ParseAddr(text.String())
	return a, err == nil && a.Is6() && a.Zone() == ""
}
