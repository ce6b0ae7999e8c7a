package watch

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
)

const (
	syn    = 0x02
	synAck = 0x12
	rstAck = 0x14
)

// ipv4 is a packet as it is behind the header of the link.
func ipv4(to string, proto byte, fragment uint16, options int, rest []byte) []byte {
	p := make([]byte, 20+4*options)
	p[0] = 0x40 | byte(5+options)
	p[9] = proto
	binary.BigEndian.PutUint16(p[6:], fragment)
	copy(p[16:], netip.MustParseAddr(to).AsSlice())
	return append(p, rest...)
}

func ipv6(to string, proto byte, rest ...[]byte) []byte {
	p := make([]byte, 40)
	p[0], p[6] = 0x60, proto
	copy(p[24:], netip.MustParseAddr(to).AsSlice())
	return append(p, slices.Concat(rest...)...)
}

func tcpTo(port uint16, flags byte) []byte {
	p := make([]byte, 20)
	binary.BigEndian.PutUint16(p[2:], port)
	p[13] = flags
	return p
}

// answer is a packet of TCP from a port, as an answer to one from another.
func answer(from string, port uint16, flags byte, sequence uint32) []byte {
	tcp := tcpTo(40000, flags)
	binary.BigEndian.PutUint16(tcp, port)
	binary.BigEndian.PutUint32(tcp[4:], sequence)
	a := netip.MustParseAddr(from)
	p, at := ipv4("127.0.0.9", protoTCP, 0, 0, tcp), 12
	if a.Is6() {
		p, at = ipv6("fd00::9", protoTCP, tcp), 8
	}
	copy(p[at:], a.AsSlice())
	return p
}

func udpTo(port uint16) []byte {
	p := make([]byte, 8)
	binary.BigEndian.PutUint16(p[2:], port)
	return p
}

// extension is a header of IPv6 with the next one's number.
func extension(next, length byte, size int) []byte {
	p := make([]byte, size)
	p[0], p[1] = next, length
	return p
}

func TestPacketTarget(t *testing.T) {
	const a, b = "8.8.8.8", "2606:4700::1"
	later := extension(protoUDP, 0, 8)
	binary.BigEndian.PutUint16(later[2:], 8<<3)
	many := [][]byte{}
	for range maxExtensions {
		many = append(many, extension(protoDestOptions, 0, 8))
	}
	many = append(many, udpTo(7))
	for _, c := range []struct {
		name  string
		ether uint16
		p     []byte
		to    string
		seen  Sighting
	}{
		{"SYN", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, syn)), "8.8.8.8:25", Opening},
		{"SYN with options", etherIPv4, ipv4(a, protoTCP, 0, 10, tcpTo(25, syn)), "8.8.8.8:25", Opening},
		{"UDP", etherIPv4, ipv4(a, protoUDP, 0, 0, udpTo(443)), "8.8.8.8:443", Datagram},
		{"the first fragment", etherIPv4, ipv4(a, protoUDP, 0x2000, 0, udpTo(443)), "8.8.8.8:443", Datagram},
		{"a later fragment", etherIPv4, ipv4(a, protoUDP, 1, 0, udpTo(443)), "", Nothing},
		{"not to be fragmented", etherIPv4, ipv4(a, protoTCP, 0x4000, 0, tcpTo(25, syn)), "8.8.8.8:25", Opening},
		{"an answer", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, synAck)), "", Nothing},
		{"SYN of ECN", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, syn|0xc0)), "8.8.8.8:25", Opening},
		{"RST", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, 0x04)), "", Nothing},
		{"data", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, 0x10)), "", Nothing},
		{"ICMP", etherIPv4, ipv4(a, 1, 0, 0, make([]byte, 8)), "", Nothing},
		{"short TCP", etherIPv4, ipv4(a, protoTCP, 0, 0, tcpTo(25, syn)[:13]), "", Nothing},
		{"short UDP", etherIPv4, ipv4(a, protoUDP, 0, 0, udpTo(25)[:3]), "", Nothing},
		{"a header that is too short", etherIPv4, append([]byte{0x44}, ipv4(a, protoUDP, 0, 0, udpTo(25))[1:]...), "", Nothing},
		{"a header that is longer than the packet", etherIPv4, append([]byte{0x4f}, ipv4(a, protoUDP, 0, 0, udpTo(25))[1:]...), "", Nothing},
		{"another version", etherIPv4, ipv6(b, protoUDP, udpTo(25)), "", Nothing},
		{"ARP", 0x0806, ipv4(a, protoUDP, 0, 0, udpTo(25)), "", Nothing},
		{"nothing", etherIPv4, nil, "", Nothing},

		{"SYN of IPv6", etherIPv6, ipv6(b, protoTCP, tcpTo(25, syn)), "[2606:4700::1]:25", Opening},
		{"UDP of IPv6", etherIPv6, ipv6(b, protoUDP, udpTo(443)), "[2606:4700::1]:443", Datagram},
		{"behind options", etherIPv6, ipv6(b, protoHopOptions, extension(protoRouting, 1, 16), extension(protoTCP, 0, 8), tcpTo(25, syn)), "[2606:4700::1]:25", Opening},
		{"behind a fragment's header", etherIPv6, ipv6(b, protoFragment, extension(protoUDP, 0, 8), udpTo(9)), "[2606:4700::1]:9", Datagram},
		{"behind authentication", etherIPv6, ipv6(b, protoAuth, extension(protoUDP, 4, 24), udpTo(9)), "[2606:4700::1]:9", Datagram},
		{"a later fragment of IPv6", etherIPv6, ipv6(b, protoFragment, later, udpTo(9)), "", Nothing},
		{"an extension that is cut", etherIPv6, ipv6(b, protoHopOptions, extension(protoUDP, 9, 16)), "", Nothing},
		{"an extension without a length", etherIPv6, ipv6(b, protoHopOptions, []byte{17}), "", Nothing},
		{"too many extensions", etherIPv6, ipv6(b, protoDestOptions, many...), "", Nothing},
		{"an answer of IPv6", etherIPv6, ipv6(b, protoTCP, tcpTo(25, synAck)), "", Nothing},
		{"no next header", etherIPv6, ipv6(b, 59, udpTo(9)), "", Nothing},

		{"closed", etherIPv4, answer("127.0.0.1", 5432, rstAck, 0), "127.0.0.1:5432", Closed},
		{"closed, of IPv6", etherIPv6, answer("::1", 5432, rstAck, 0), "[::1]:5432", Closed},
		{"closed, with flags of no meaning here", etherIPv4, answer("127.0.0.1", 5432, rstAck|0xc8, 0), "127.0.0.1:5432", Closed},
		{"cut", etherIPv4, answer("127.0.0.1", 5432, rstAck, 7), "", Nothing},
		{"cut without an answer", etherIPv4, answer("127.0.0.1", 5432, 0x04, 0), "", Nothing},
		{"everything at once", etherIPv4, answer("127.0.0.1", 5432, 0x17, 0), "", Nothing},
		{"short answer", etherIPv6, answer("::1", 5432, rstAck, 0)[:53], "", Nothing},
		{"short", etherIPv6, ipv6(b, protoUDP)[:39], "", Nothing},
	} {
		to, seen := packetTarget(c.ether, c.p)
		got := ""
		if to.IsValid() {
			got = to.String()
		}
		if got != c.to || seen != c.seen {
			t.Errorf("%s: %q %d, want %q %d", c.name, got, seen, c.to, c.seen)
		}
	}
}

// What is told of a packet is in it, and a longer one says the same.
func FuzzPacketTarget(f *testing.F) {
	f.Add(false, ipv4("8.8.8.8", protoTCP, 0, 3, tcpTo(25, syn)))
	f.Add(true, answer("::1", 5432, rstAck, 0))
	f.Add(true, ipv6("2606:4700::1", protoHopOptions, extension(protoFragment, 0, 8), extension(protoUDP, 0, 8), udpTo(9)))
	f.Fuzz(func(t *testing.T, six bool, p []byte) {
		ether := uint16(etherIPv4)
		if six {
			ether = etherIPv6
		}
		to, seen := packetTarget(ether, p)
		if seen == Nothing {
			if to.IsValid() {
				t.Error("something is told of a packet that is none")
			}
			return
		}
		at := map[bool]int{false: 16, true: 24}[six]
		if seen == Closed {
			at = map[bool]int{false: 12, true: 8}[six]
		}
		if a := to.Addr().AsSlice(); !slices.Equal(a, p[at:at+len(a)]) {
			t.Errorf("%s is not in the packet", to)
		}
		if again, same := packetTarget(ether, append(slices.Clone(p), 1, 2, 3)); same != seen || again != to {
			t.Errorf("%s, and %s when it is longer", to, again)
		}
	})
}
