// Package watch looks at the network of a cell from outside: packets that nothing
// listens for, and the processes that have a socket or listen at a port.
//
// What it sees is a help for people and proves nothing. It refuses to decide anything,
// to send anything into the cell, and to spend more time than it is given.
package watch

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

// whatIsSeen is what was seen of an attempt in a packet.
type Sighting int

const (
	Nothing  Sighting = iota
	Opening           // the first packet of a TCP connection
	Datagram          // any of UDP
	Closed            // the answer of a TCP port that nobody listens at
)

// packet is one of IP, without its header.
type packet struct {
	from, to netip.Addr
	proto    byte
	rest     []byte
}

// packetTarget is what a worker tried to reach, as far as a packet says. It begins
// with the header of IP, and is the worker's.
func packetTarget(ether uint16, b []byte) (to netip.AddrPort, seen Sighting) {
	var p packet
	var ok bool
	switch ether {
	case etherIPv4:
		p, ok = openIPv4(b)
	case etherIPv6:
		p, ok = openIPv6(b)
	}
	if ok {
		seen = p.whatIsSeen()
	}
	switch seen {
	case Nothing:
		return netip.AddrPort{}, Nothing
	case Closed:
		return netip.AddrPortFrom(p.from, binary.BigEndian.Uint16(p.rest)), seen
	}
	return netip.AddrPortFrom(p.to, binary.BigEndian.Uint16(p.rest[2:])), seen
}

// whatIsSeen tells a packet by the header behind that of IP.
func (p packet) whatIsSeen() Sighting {
	switch {
	case p.proto == protoUDP && len(p.rest) >= 4:
		return Datagram
	case p.proto != protoTCP || len(p.rest) < 14:
		return Nothing
	}
	const fin, syn, rst, ack = 0x01, 0x02, 0x04, 0x10
	switch flags := p.rest[13]; {
	case flags&(syn|ack|rst) == syn:
		return Opening
	case flags&(fin|syn|ack|rst) == rst|ack && binary.BigEndian.Uint32(p.rest[4:]) == 0:
		return Closed
	}
	return Nothing
}

// openIPv4 takes the header off a packet. Later fragments have no ports.
func openIPv4(b []byte) (packet, bool) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return packet{}, false
	}
	header := int(b[0]&0xf) * 4
	offset := binary.BigEndian.Uint16(b[6:]) & 0x1fff
	if header < 20 || len(b) < header || offset != 0 {
		return packet{}, false
	}
	return packet{netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20])), b[9], b[header:]}, true
}

// openIPv6 takes the header and its extensions off a packet.
func openIPv6(b []byte) (packet, bool) {
	if len(b) < 40 || b[0]>>4 != 6 {
		return packet{}, false
	}
	p := packet{netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40])), b[6], b[40:]}
	for range maxExtensions {
		length, extension := extensionLength(p.proto, p.rest)
		if !extension {
			return p, true
		}
		if length == 0 || len(p.rest) < length {
			break
		}
		p.proto, p.rest = p.rest[0], p.rest[length:]
	}
	return packet{}, false
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
