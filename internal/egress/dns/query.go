package dns

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	headerSize = 12
	// queryRoom is how long a query may be: a name, and options that nobody needs.
	queryRoom = 4096
)

// badVersion is the code for an EDNS that does not exist yet. It does not fit into
// the header alone.
const badVersion dnsmessage.RCode = 16

// query is a question for a name, as it came.
type query struct {
	header   dnsmessage.Header
	question dnsmessage.Question
	asked    bool // there is a question to repeat
	extended bool // the client understands EDNS
	// fault is what is wrong with it; success is nothing.
	fault dnsmessage.RCode
}

// readQuery reads a query. What is none gets no answer, so that two servers cannot
// be made to talk to each other for ever.
func readQuery(b []byte) (query, bool) {
	var p dnsmessage.Parser
	h, err := p.Start(b)
	if err != nil || h.Response {
		return query{}, false
	}
	q := query{header: h}
	q.fault = q.read(&p, b)
	return q, true
}

func (q *query) read(p *dnsmessage.Parser, b []byte) dnsmessage.RCode {
	questions, records := binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint32(b[6:])
	switch {
	case q.header.OpCode != 0:
		return dnsmessage.RCodeNotImplemented
	case questions != 1, records != 0, !spelledOut(b[headerSize:]):
		return dnsmessage.RCodeFormatError
	}
	var err error
	if q.question, err = p.Question(); err != nil {
		return dnsmessage.RCodeFormatError
	}
	q.asked = true
	if p.SkipAllQuestions() != nil || p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return dnsmessage.RCodeFormatError
	}
	return q.readExtension(p)
}

// readExtension looks for EDNS among the additional records.
func (q *query) readExtension(p *dnsmessage.Parser) dnsmessage.RCode {
	fault := dnsmessage.RCodeSuccess
	for {
		h, err := p.AdditionalHeader()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return fault
		}
		if err != nil || p.SkipAdditional() != nil || h.Type == dnsmessage.TypeOPT && q.extended {
			return dnsmessage.RCodeFormatError
		}
		if h.Type != dnsmessage.TypeOPT {
			continue
		}
		q.extended = true
		if version := h.TTL >> 16 & 0xff; version != 0 {
			fault = badVersion
		}
	}
}

// spelledOut reports whether a name does without pointers. In the first name of a
// message there is nothing to point to but the header, which would be read as a
// name and not be the same in the answer.
func spelledOut(b []byte) bool {
	for len(b) > 0 && b[0] != 0 {
		n := int(b[0])
		if n > 63 || n >= len(b) {
			return false
		}
		b = b[n+1:]
	}
	return len(b) > 0
}

// name is what is asked for, in lower case and without the last dot, and as it is
// otherwise.
func (q *query) name() string {
	return lower(strings.TrimSuffix(q.question.Name.String(), "."))
}

// lower changes ASCII only: to make one letter out of two is not ours.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
