package reach

import (
	"net/netip"
	"testing"
)

// last is the highest address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// Both ends of every block are not public; what lies next to it is, where that is
// public at all.
func TestPublicEdges(t *testing.T) {
	// Another block is right before or after these.
	before := map[string]bool{"240.0.0.0/4": true, "255.255.255.255/32": true, "3fff::/20": true}
	after := map[string]bool{"224.0.0.0/4": true, "3ffe::/16": true}
	for _, s := range specialBlocks {
		p := netip.MustParsePrefix(s)
		if p != p.Masked() {
			t.Errorf("%s has more bits than its prefix", s)
		}
		for _, a := range []netip.Addr{p.Addr(), last(p)} {
			if Public(a) || a.Is4() && Public(netip.AddrFrom16(a.As16())) {
				t.Errorf("%s of %s is public", a, s)
			}
		}
		v4 := p.Addr().Is4()
		inKnown := v4 || known().global[1].Contains(p.Addr())
		if a := p.Addr().Prev(); a.IsValid() && Public(a) != (inKnown && !before[s]) {
			t.Errorf("%s, before %s, is public: %v", a, s, Public(a))
		}
		if a := last(p).Next(); a.IsValid() && Public(a) != (inKnown && !after[s]) {
			t.Errorf("%s, after %s, is public: %v", a, s, Public(a))
		}
	}
}

func TestPublic(t *testing.T) {
	for s, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "160.79.104.10": true, "::ffff:8.8.8.8": true, "2606:4700::1111": true, "2a00:1450:4001::1": true, "2001:200::1": true,
		"10.0.0.1": false, "127.0.0.1": false, "169.254.169.254": false, "::ffff:169.254.169.254": false, "::ffff:127.0.0.1": false, "100.100.100.200": false,
		"192.0.0.192": false, "168.63.129.16": false, "168.63.129.17": true, "0.0.0.0": false, "255.255.255.255": false, "198.18.0.1": false,
		"::": false, "::1": false, "::8.8.8.8": false, "::ffff:0:8.8.8.8": false, "64:ff9b::8.8.8.8": false, "64:ff9b:1::1": false,
		"2001::1": false, "2001:2::1": false, "2001:10::1": false, "2001:20::1": false, "2001:1ff:ffff::1": false, "2001:db8::1": false, "2002:a00:1::1": false,
		"3fff::1": false, "4000::1": false, "5f00::1": false, "1fff::1": false, "fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "2606:4700::1111%eth0": false,
		"fec0::1": false, "ff02::1": false, "100::1": false, "fd63:6f72:646f:6e::1": false, "8000::1": false,
	} {
		if got := Public(netip.MustParseAddr(s)); got != want {
			t.Errorf("%s is public: %v", s, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
