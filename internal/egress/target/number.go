package target

import (
	"encoding/binary"
	"net/netip"
)

// MeansName reports whether an address lies where names of a cell get theirs.
func MeansName(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is4() {
		return a.As4()[0] == 198 && a.As4()[1]&^1 == 18
	}
	return a.Is6() && [8]byte(a.AsSlice()[:8]) == bookPrefix
}

// bookPrefix is fd63:6f72:646f:6e::/64: a private one, and the word cordon.
var bookPrefix = [8]byte{0xfd, 0x63, 0x6f, 0x72, 0x64, 0x6f, 0x00, 0x6e}

// Numbered are the addresses with a number.
func Numbered(n uint32) (v4, v6 netip.Addr) {
	var long [16]byte
	copy(long[:], bookPrefix[:])
	binary.BigEndian.PutUint32(long[12:], n)
	short := [4]byte{198, 18 | byte(n>>16&1), byte(n >> 8), byte(n)}
	return netip.AddrFrom4(short), netip.AddrFrom16(long)
}

// NumberOf is the number in an address. One that only looks like it has none.
func NumberOf(a netip.Addr) (uint32, bool) {
	a = a.Unmap()
	var n uint32
	switch {
	case a.Is4():
		n = binary.BigEndian.Uint32(a.AsSlice()) & 0x1ffff
	case a.Is6():
		n = binary.BigEndian.Uint32(a.AsSlice()[12:])
	default:
		return 0, false
	}
	v4, v6 := Numbered(n)
	return n, a == v4 || a == v6
}
