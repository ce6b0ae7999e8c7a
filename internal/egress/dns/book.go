package dns

import (
	"net/netip"
	"sync"

	"cordon/internal/egress/target"
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

// Book gives every name of a cell an address of its own, in both families. An
// address means one name for as long as the cell lives: what was resolved once and
// is dialled hours later still goes where it was meant to.
//
// The addresses are 198.18.0.0/15, which is kept for measurements and routed
// nowhere, and a private prefix of IPv6. The same number is in both.
type Book struct {
	mu      sync.RWMutex
	names   []string          // by number, from firstNumber on
	numbers map[string]uint32 // made with the first name
	refused int
}

// NewBook makes an empty book.
func NewBook() *Book { return &Book{} }

// Addresses are those of a clean name, which gets some if it has none yet. Without
// room for it they are not ok.
func (b *Book) Addresses(name string, refused bool) (v4, v6 netip.Addr, ok bool) {
	n, ok := b.number(name)
	if !ok {
		n, ok = b.add(name, refused)
	}
	if !ok {
		return netip.Addr{}, netip.Addr{}, false
	}
	v4, v6 = target.Numbered(n)
	return v4, v6, true
}

func (b *Book) number(name string) (uint32, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n, ok := b.numbers[name]
	return n, ok
}

// add gives a name the next number. The two kinds have room of their own, so that
// asking for what is refused takes nothing from what is allowed.
func (b *Book) add(name string, refused bool) (uint32, bool) {
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

// Name is what an address means.
func (b *Book) Name(a netip.Addr) (name string, ok bool) {
	n, ok := target.NumberOf(a)
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

// Covers reports whether an address lies where names get theirs, whether it was
// given out or not.
func (b *Book) Covers(a netip.Addr) bool { return target.MeansName(a) }

// Own reports whether an address is the cell's own, which its interface has.
func (b *Book) Own(a netip.Addr) bool {
	n, ok := target.NumberOf(a)
	return ok && n == 1
}
