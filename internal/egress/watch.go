package egress

import (
	"encoding/binary"
	"net/netip"
)

// The numbers of protocols, as they are in packets.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd

	protoHopOptions  = 0
	protoTCP         = 6
	protoUDP         = 17
	protoRouting     = 43
	protoFragment    = 44
	protoAuth        = 51
	protoDestOptions = 60

	// maxExtensions is how many headers of IPv6 are read before the one that has
	// ports.
	maxExtensions = 8
)

// packetTarget is where a packet goes, if it is the first of a TCP connection or any
// of UDP. The packet begins with the header of IP; it is the worker's.
func packetTarget(ether uint16, p []byte) (to netip.AddrPort, udp, ok bool) {
	var addr netip.Addr
	var proto byte
	switch ether {
	case etherIPv4:
		addr, proto, p, ok = openIPv4(p)
	case etherIPv6:
		addr, proto, p, ok = openIPv6(p)
	}
	udp = proto == protoUDP
	if !ok || len(p) < 4 || !udp && (proto != protoTCP || !isSYN(p)) {
		return netip.AddrPort{}, false, false
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(p[2:])), udp, true
}

// isSYN reports whether a TCP header opens a connection, rather than answers.
func isSYN(p []byte) bool {
	const syn, ack, rst = 0x02, 0x10, 0x04
	return len(p) >= 14 && p[13]&(syn|ack|rst) == syn
}

// openIPv4 takes the header off a packet. Later fragments have no ports.
func openIPv4(p []byte) (to netip.Addr, proto byte, rest []byte, ok bool) {
	if len(p) < 20 || p[0]>>4 != 4 {
		return netip.Addr{}, 0, nil, false
	}
	header := int(p[0]&0xf) * 4
	offset := binary.BigEndian.Uint16(p[6:]) & 0x1fff
	if header < 20 || len(p) < header || offset != 0 {
		return netip.Addr{}, 0, nil, false
	}
	return netip.AddrFrom4([4]byte(p[16:20])), p[9], p[header:], true
}

// openIPv6 takes the header and its extensions off a packet.
func openIPv6(p []byte) (to netip.Addr, proto byte, rest []byte, ok bool) {
	if len(p) < 40 || p[0]>>4 != 6 {
		return netip.Addr{}, 0, nil, false
	}
	to, proto, rest = netip.AddrFrom16([16]byte(p[24:40])), p[6], p[40:]
	for range maxExtensions {
		length, extension := extensionLength(proto, rest)
		if !extension {
			return to, proto, rest, true
		}
		if length == 0 || len(rest) < length {
			break
		}
		proto, rest = rest[0], rest[length:]
	}
	return netip.Addr{}, 0, nil, false
}

// extensionLength is that of the header which p begins with; 0 when it cannot be
// read on from there.
func extensionLength(proto byte, p []byte) (length int, extension bool) {
	switch proto {
	case protoHopOptions, protoRouting, protoDestOptions:
		if len(p) >= 2 {
			return (int(p[1]) + 1) * 8, true
		}
	case protoAuth:
		if len(p) >= 2 {
			return (int(p[1]) + 2) * 4, true
		}
	case protoFragment:
		if len(p) >= 8 && binary.BigEndian.Uint16(p[2:])>>3 == 0 {
			return 8, true
		}
	default:
		return 0, false
	}
	return 0, true
}
