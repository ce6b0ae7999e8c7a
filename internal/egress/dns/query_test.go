package dns

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// queryName is a name as it is sent, of any bytes.
func queryName(labels ...string) []byte {
	var b []byte
	for _, l := range labels {
		b = append(append(b, byte(len(l))), l...)
	}
	return append(b, 0)
}

// wireQuery is a query by hand: a header that wants recursion, and a body.
func wireQuery(flags uint16, counts [4]uint16, body ...[]byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xab, 0xcd}, flags)
	for _, n := range counts {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return append(b, bytes.Join(body, nil)...)
}

// asks is an ordinary query for a name, with its labels as they are.
func asks(typ dnsmessage.Type, name string) []byte {
	return asksLabels(typ, dnsmessage.ClassINET, strings.Split(name, ".")...)
}

func asksLabels(typ dnsmessage.Type, class dnsmessage.Class, labels ...string) []byte {
	return wireQuery(0x0100, [4]uint16{1}, queryName(labels...), be(uint16(typ), uint16(class)))
}

func be(list ...uint16) []byte {
	var b []byte
	for _, n := range list {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// withEDNS adds the record, of a version.
func withEDNS(q []byte, version byte) []byte {
	q = bytes.Clone(q)
	q[11]++
	return append(append(q, 0), append(be(41, 1232), 0, version, 0, 0, 0, 0)...)
}

// parsed is an answer, which has to be whole.
func parsed(t *testing.T, msg []byte) dnsmessage.Message {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(msg); err != nil {
		t.Fatalf("%v in %x", err, msg)
	}
	return m
}

func TestQueryFaults(t *testing.T) {
	const ok, format = dnsmessage.RCodeSuccess, dnsmessage.RCodeFormatError
	in := be(1, 1)
	good := queryName("a", "example")
	long := strings.Repeat("x", 63)
	for _, c := range []struct {
		name   string
		packet []byte
		fault  dnsmessage.RCode
		asked  bool
	}{
		{"good", wireQuery(0x0100, [4]uint16{1}, good, in), ok, true},
		{"no recursion wanted", wireQuery(0, [4]uint16{1}, good, in), ok, true},
		{"root", wireQuery(0, [4]uint16{1}, queryName(), in), ok, true},
		{"edns", withEDNS(wireQuery(0, [4]uint16{1}, good, in), 0), ok, true},
		{"edns of tomorrow", withEDNS(wireQuery(0, [4]uint16{1}, good, in), 1), badVersion, true},
		{"edns twice", withEDNS(withEDNS(wireQuery(0, [4]uint16{1}, good, in), 0), 0), format, true},
		{"edns cut off", withEDNS(wireQuery(0, [4]uint16{1}, good, in), 0)[:34], format, true},
		{"bytes behind", wireQuery(0, [4]uint16{1}, good, in, []byte("more")), ok, true},
		{"notify", wireQuery(0x2000, [4]uint16{1}, good, in), dnsmessage.RCodeNotImplemented, false},
		{"update", wireQuery(0x2800, [4]uint16{1}, good, in), dnsmessage.RCodeNotImplemented, false},
		{"no question", wireQuery(0, [4]uint16{}), format, false},
		{"two questions", wireQuery(0, [4]uint16{2}, good, in, good, in), format, false},
		{"an answer along", wireQuery(0, [4]uint16{1, 1}, good, in, good, be(1, 1, 0, 0, 0)), format, false},
		{"an authority along", wireQuery(0, [4]uint16{1, 0, 1}, good, in, good, be(1, 1, 0, 0, 0)), format, false},
		{"cut off in a label", wireQuery(0, [4]uint16{1}, good[:4]), format, false},
		{"cut off before the end", wireQuery(0, [4]uint16{1}, good[:len(good)-1]), format, false},
		{"cut off in the type", wireQuery(0, [4]uint16{1}, good, in[:3]), format, false},
		{"a pointer to itself", wireQuery(0, [4]uint16{1}, []byte{0xc0, 12}, in), format, false},
		{"a pointer to the header", wireQuery(0, [4]uint16{1}, []byte{0xc0, 3}, in), format, false},
		{"a pointer behind a label", wireQuery(0, [4]uint16{1}, []byte{1, 'a', 0xc0, 3}, in), format, false},
		{"a reserved label", wireQuery(0, [4]uint16{1}, []byte{0x41, 'a', 0}, in), format, false},
		{"a dot in a label", wireQuery(0, [4]uint16{1}, queryName("a.example"), in), format, false},
		{"too long", wireQuery(0, [4]uint16{1}, queryName(long, long, long, long), in), format, false},
		{"longest", wireQuery(0, [4]uint16{1}, queryName(long, long, long, long[:61]), in), ok, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, answered := readQuery(c.packet)
			if !answered || q.fault != c.fault || q.asked != c.asked {
				t.Errorf("%v, fault %d, asked %v", answered, q.fault, q.asked)
			}
			m := parsed(t, q.pack(reply{code: q.fault}))
			if !m.Response || m.ID != 0xabcd || len(m.Questions) != 1 && c.asked {
				t.Errorf("answered %+v", m.Header)
			}
		})
	}
	for name, b := range map[string][]byte{"nothing": nil, "half a header": make([]byte, 11), "an answer": wireQuery(0x8180, [4]uint16{1}, good, in)} {
		if _, ok := readQuery(b); ok {
			t.Errorf("%s is a query", name)
		}
	}
}

// The question comes back byte for byte: clients mix the case to know their answer.
func TestQuestionRepeated(t *testing.T) {
	packet := asks(dnsmessage.TypeA, "wWw.ExAmPlE.CoM")
	q, _ := readQuery(packet)
	msg := q.pack(reply{addr: netip.MustParseAddr("198.18.0.2"), ttl: 1})
	if !bytes.Equal(msg[12:len(packet)], packet[12:]) {
		t.Errorf("%q came back as %q", packet[12:], msg[12:])
	}
	if q.name() != "www.example.com" {
		t.Errorf("it asks for %q", q.name())
	}
}

// The longest of everything fits where EDNS is not understood.
func TestAnswerSize(t *testing.T) {
	long := strings.Repeat("x", 63)
	q, _ := readQuery(withEDNS(asks(dnsmessage.TypeAAAA, strings.Join([]string{long, long, long, long[:61]}, ".")), 0))
	why := strings.Repeat("ä", 1000)
	msg := q.pack(reply{addr: netip.MustParseAddr("fd63:6f72:646f:6e::2"), why: why})
	if m := parsed(t, msg); len(m.Answers) != 1 || len(m.Additionals) != 1 {
		t.Errorf("%d bytes: %+v", len(msg), m)
	}
	q, _ = readQuery(withEDNS(asks(dnsmessage.TypePTR, strings.Repeat("f.", 32)+"ip6.arpa"), 0))
	msg = q.pack(reply{name: strings.Join([]string{long, long, long, long[:61]}, ".")})
	if m := parsed(t, msg); len(m.Answers) != 1 {
		t.Errorf("%d bytes: %+v", len(msg), m)
	}
}

func TestReversed(t *testing.T) {
	v6 := "2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.e.6.0.0.f.6.4.6.2.7.f.6.3.6.d.f.ip6.arpa"
	for name, want := range map[string]string{
		"2.0.18.198.in-addr.arpa": "198.18.0.2", v6: "fd63:6f72:646f:6e::2",
		"1.0.0.127.in-addr.arpa": "127.0.0.1",
		"0.18.198.in-addr.arpa":  "", "1.2.0.18.198.in-addr.arpa": "", "2.0.18.256.in-addr.arpa": "", "02.0.18.198.in-addr.arpa": "",
		".0.18.198.in-addr.arpa": "", "in-addr.arpa": "", "arpa": "", "x.y.z.w.in-addr.arpa": "",
		strings.Replace(v6, "2.", "%.", 1): "", strings.Replace(v6, "2.0", "200", 1): "", strings.Replace(v6, "2.", ":.", 1): "", v6[2:]: "", "g" + v6[1:]: "",
	} {
		a, ok := reversed(name)
		if ok != (want != "") || ok && a.String() != want {
			t.Errorf("%s is %s, %v", name, a, ok)
		}
	}
}
