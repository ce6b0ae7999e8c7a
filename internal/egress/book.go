package egress

import (
	"encoding/binary"
	"net/netip"
	"sync"
)

const (
	// allowedRoom is how many names of the lease a cell can resolve. Only wildcards
	// lead to more than were written down.
	allowedRoom = 16384
	// refusedRoom is how many other names get an address, at which the reason is told.
	refusedRoom = 256
	// firstNumber leaves out the cell's own address, and the network's.
	firstNumber = 2
)

// book gives every name of a cell an address of its own, in both families. An
// address means one name for as long as the cell lives: what was resolved once and
// is dialled hours later still goes where it was meant to.
//
// The addresses are 198.18.0.0/15, which is kept for measurements and routed
// nowhere, and a private prefix of IPv6. The same number is in both.
type book struct {
	mu      sync.RWMutex
	names   []string          // by number, from firstNumber on
	numbers map[string]uint32 // made with the first name
	refused int
}

func newBook() *book { return &book{} }

// addresses are those of a clean name, which gets some if it has none yet. Without
// room for it they are not ok.
func (b *book) addresses(name string, refused bool) (v4, v6 netip.Addr, ok bool) {
	n, ok := b.number(name)
	if !ok {
		n, ok = b.add(name, refused)
	}
	if !ok {
		return netip.Addr{}, netip.Addr{}, false
	}
	v4, v6 = numbered(n)
	return v4, v6, true
}

func (b *book) number(name string) (uint32, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n, ok := b.numbers[name]
	return n, ok
}

// add gives a name the next number. The two kinds have room of their own, so that
// asking for what is refused takes nothing from what is allowed.
func (b *book) add(name string, refused bool) (uint32, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, ok := b.numbers[name]; ok {
		return n, true // somebody was faster
	}
	if refused && b.refused >= refusedRoom || !refused && len(b.names)-b.refused >= allowedRoom {
		return 0, false
	}
	if b.numbers == nil {
		b.numbers = map[string]uint32{}
	}
	if refused {
		b.refused++
	}
	n := uint32(len(b.names)) + firstNumber
	b.names = append(b.names, name)
	b.numbers[name] = n
	return n, true
}

// name is what an address means.
func (b *book) name(a netip.Addr) (name string, ok bool) {
	n, ok := numberOf(a)
	if !ok || n < firstNumber {
		return "", false
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n -= firstNumber; n >= uint32(len(b.names)) {
		return "", false
	}
	return b.names[n], true
}

// covers reports whether an address lies where names get theirs, whether it was
// given out or not.
func (b *book) covers(a netip.Addr) bool { return inBook(a) }

func inBook(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is4() {
		return a.As4()[0] == 198 && a.As4()[1]&^1 == 18
	}
	return a.Is6() && [8]byte(a.AsSlice()[:8]) == bookPrefix
}

// own reports whether an address is the cell's own, which its interface has.
func (b *book) own(a netip.Addr) bool {
	n, ok := numberOf(a)
	return ok && n == 1
}

// bookPrefix is fd63:6f72:646f:6e::/64: a private one, and the word cordon.
var bookPrefix = [8]byte{0xfd, 0x63, 0x6f, 0x72, 0x64, 0x6f, 0x00, 0x6e}

// numbered are the addresses with a number.
func numbered(n uint32) (v4, v6 netip.Addr) {
	var long [16]byte
	copy(long[:], bookPrefix[:])
	binary.BigEndian.PutUint32(long[12:], n)
	short := [4]byte{198, 18 | byte(n>>16&1), byte(n >> 8), byte(n)}
	return netip.AddrFrom4(short), netip.AddrFrom16(long)
}

// numberOf is the number in an address. One that only looks like it has none.
func numberOf(a netip.Addr) (uint32, bool) {
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
	v4, v6 := numbered(n)
	return n, a == v4 || a == v6
}
