package dns

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
)

func TestBook(t *testing.T) {
	b := NewBook()
	a4, a6, ok := b.Addresses("a.example", false)
	if !ok || a4.String() != "198.18.0.2" || a6.String() != "fd63:6f72:646f:6e::2" {
		t.Fatalf("the first name got %s %s %v", a4, a6, ok)
	}
	b4, b6, _ := b.Addresses("b.example", true)
	if again, _, _ := b.Addresses("a.example", true); again != a4 || b4 == a4 || b6 == a6 {
		t.Fatalf("a is %s and then %s, b is %s", a4, again, b4)
	}
	for text, want := range map[string]string{
		"198.18.0.2": "a.example", "::ffff:198.18.0.2": "a.example", "fd63:6f72:646f:6e::2": "a.example",
		"198.18.0.3": "b.example", "fd63:6f72:646f:6e::3": "b.example",
		"198.18.0.0": "", "198.18.0.1": "", "198.18.0.4": "", "198.19.0.2": "", "198.20.0.2": "", "10.18.0.2": "",
		"fd63:6f72:646f:6e::": "", "fd63:6f72:646f:6e::1": "", "fd63:6f72:646f:6e::4": "",
		"fd63:6f72:646f:6e:1::2": "", "fd63:6f72:646f:6e::1:0:2": "", "fd63:6f72:646f:6f::2": "", "fd63:6f72:646f:6e::2%lo": "",
	} {
		if got, ok := b.Name(netip.MustParseAddr(text)); got != want || ok != (want != "") {
			t.Errorf("%s means %q, %v", text, got, ok)
		}
	}
	if name, ok := b.Name(netip.Addr{}); ok || b.Covers(netip.Addr{}) || b.Own(netip.Addr{}) {
		t.Errorf("no address means %q", name)
	}
}

func TestBookCovers(t *testing.T) {
	b := NewBook()
	for text, want := range map[string]bool{
		"198.18.0.0": true, "198.19.255.255": true, "::ffff:198.18.7.7": true, "198.17.255.255": false, "198.20.0.0": false, "199.18.0.1": false,
		"fd63:6f72:646f:6e::": true, "fd63:6f72:646f:6e:ffff:ffff:ffff:ffff": true, "fd63:6f72:646f:6d:ffff::": false, "fd63:6f72:646f:6f::": false,
		"::1": false, "::198.18.0.1": false,
	} {
		if b.Covers(netip.MustParseAddr(text)) != want {
			t.Errorf("covers %s is not %v", text, want)
		}
	}
	for text, want := range map[string]bool{"198.18.0.1": true, "::ffff:198.18.0.1": true, "fd63:6f72:646f:6e::1": true, "198.18.0.2": false,
		"::1": false, "127.0.0.1": false} {
		if b.Own(netip.MustParseAddr(text)) != want {
			t.Errorf("own %s is not %v", text, want)
		}
	}
}

// One kind of name takes no room of the other, and what has an address keeps it.
func TestBookRoom(t *testing.T) {
	b := NewBook()
	meant := map[netip.Addr]string{}
	fill := func(kind string, refused bool, room int) {
		for i := range room + 1 {
			name := fmt.Sprintf("%s%d.example", kind, i)
			v4, v6, ok := b.Addresses(name, refused)
			if ok != (i < room) {
				t.Fatalf("%s: %v", name, ok)
			}
			if !ok {
				continue
			}
			if meant[v4] != "" || meant[v6] != "" || !b.Covers(v4) || !b.Covers(v6) {
				t.Fatalf("%s got %s, which is %s", name, v4, meant[v4])
			}
			meant[v4], meant[v6] = name, name
		}
	}
	fill("r", true, refusedRoom)
	fill("a", false, allowedRoom)
	for a, name := range meant {
		if got, _ := b.Name(a); got != name {
			t.Fatalf("%s is %q and was given to %s", a, got, name)
		}
	}
	if _, _, ok := b.Addresses("r0.example", true); !ok {
		t.Error("a full book has forgotten a name")
	}
}

func TestBookTogether(t *testing.T) {
	b := NewBook()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 500 {
				name := fmt.Sprintf("n%d.example", i)
				v4, v6, _ := b.Addresses(name, false)
				for _, a := range []netip.Addr{v4, v6} {
					if got, ok := b.Name(a); got != name || !ok {
						t.Errorf("%s is %q", a, got)
					}
				}
			}
		})
	}
	wg.Wait()
	if len(b.names) != 500 {
		t.Errorf("%d names", len(b.names))
	}
}
