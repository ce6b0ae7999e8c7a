package policy

import (
	"cordon/internal/reach"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func reachOf(t testing.TB, n Network) reach.Reach {
	t.Helper()
	r, err := n.Reach()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestZeroReachIsNothing(t *testing.T) {
	for _, r := range []reach.Reach{{}, reachOf(t, Network{}), reachOf(t, Default().Network)} {
		if !r.Empty() || r.KnowsName("a.b") || r.AllowsName("a.b", 443) || r.AllowsAddr(netip.MustParseAddr("8.8.8.8"), 443) || r.HostPort(80) || len(r.Ports())+len(r.HostPorts()) > 0 {
			t.Errorf("%+v reaches something", r)
		}
	}
}

func TestReachNames(t *testing.T) {
	r := reachOf(t, Network{AllowedDomains: []string{"a.example", "*.b.example", "c.example:22", "c.example:8443", "*.d.example:8443", "@pypi"}})
	for _, c := range []struct {
		name  string
		port  uint16
		known bool
		want  bool
	}{
		{"a.example", 443, true, true}, {"a.example", 80, true, true}, {"a.example", 8443, true, false}, {"a.example", 0, true, false},
		{"x.a.example", 443, false, false}, {"xa.example", 443, false, false}, {"a.example.evil", 443, false, false}, {"A.example", 443, false, false},
		{"b.example", 443, false, false}, {"x.b.example", 443, true, true}, {"y.x.b.example", 80, true, true}, {"xb.example", 443, false, false},
		{".b.example", 443, false, false}, {"x.b.example", 22, true, false},
		{"c.example", 22, true, true}, {"c.example", 8443, true, true}, {"c.example", 443, true, false},
		{"x.d.example", 8443, true, true}, {"x.d.example", 443, true, false}, {"d.example", 8443, false, false},
		{"pypi.org", 443, true, true}, {"files.pythonhosted.org", 443, true, true}, {"pythonhosted.org", 443, false, false},
		{"", 443, false, false}, {"example", 443, false, false},
	} {
		if got := r.AllowsName(c.name, c.port); got != c.want || r.KnowsName(c.name) != c.known {
			t.Errorf("%s:%d: allowed %v, known %v", c.name, c.port, got, r.KnowsName(c.name))
		}
	}
	if want := []uint16{22, 80, 443, 8443}; !slices.Equal(r.Ports(), want) || r.Empty() {
		t.Errorf("ports %v, want %v", r.Ports(), want)
	}
}

func TestReachAddresses(t *testing.T) {
	for _, c := range []struct {
		domains, addr string
		port          uint16
		allowed       bool
		named         bool
	}{
		{"8.8.8.8", "8.8.8.8", 443, true, false},
		{"8.8.8.8", "8.8.8.8", 53, false, false},
		{"8.8.8.8", "8.8.8.9", 443, false, false},
		{"8.8.8.8", "::ffff:8.8.8.8", 443, true, false},
		{"8.8.8.8:5432", "8.8.8.8", 5432, true, false},
		{"8.8.8.8:5432", "8.8.8.8", 443, false, false},
		{"10.1.0.0/16", "10.1.2.3", 443, true, true},
		{"10.1.0.0/16", "::ffff:10.1.2.3", 443, true, true},
		{"10.1.0.0/16", "10.2.0.0", 443, false, false},
		{"10.1.0.0/16:5432", "10.1.2.3", 443, false, false},
		// Everything around a private network does not name it.
		{"0.0.0.0/0", "8.8.8.8", 443, true, false},
		{"0.0.0.0/0", "10.1.2.3", 443, false, false},
		{"0.0.0.0/0", "169.254.169.254", 80, false, false},
		{"0.0.0.0/0", "::ffff:169.254.169.254", 80, false, false},
		{"0.0.0.0/0", "127.0.0.1", 80, false, false},
		{"0.0.0.0/0", "0.0.0.0", 80, false, false},
		{"0.0.0.0/0", "2606:4700::1", 443, false, false},
		{"8.0.0.0/6", "10.1.2.3", 443, false, false},
		{"::/0", "2606:4700::1", 443, true, false},
		{"::/0", "fd00::1", 443, false, false},
		{"::/0", "::1", 443, false, false},
		{"::/0", "8.8.8.8", 443, false, false},
		{"::/0", "::ffff:8.8.8.8", 443, false, false},
		{"64:ff9b::/96", "64:ff9b::7f00:1", 443, true, true},
		// A rule for everything does not lend its port to one for a private network.
		{"0.0.0.0/0 10.0.0.0/8:5432", "10.1.2.3", 443, false, false},
		{"0.0.0.0/0 10.0.0.0/8:5432", "10.1.2.3", 5432, true, true},
		{"169.254.169.254", "169.254.169.254", 80, true, true},
		{"168.63.129.16", "168.63.129.16", 80, true, true},
		{"fd00::/8", "fd00:ec2::254", 80, true, true},
		{"fe80::/10", "fe80::1%eth0", 80, false, false},
		{"::/96", "::1", 80, false, false},
		{"::/96", "::", 80, false, false},
		{"240.0.0.0/4", "255.255.255.255", 80, false, false},
		{"240.0.0.0/4", "240.0.0.1", 80, true, true},
		{"fc00::/6", "fd00::1", 80, false, false},
		{"", "8.8.8.8", 443, false, false},
	} {
		r := reachOf(t, Network{AllowedDomains: strings.Fields(c.domains)})
		a := netip.MustParseAddr(c.addr)
		if allowed, named := r.AllowsAddr(a, c.port), r.NamesAddr(a, c.port); allowed != c.allowed || named != c.named {
			t.Errorf("%s: %s port %d: allowed %v, named %v", c.domains, c.addr, c.port, allowed, named)
		}
	}
	if r := reachOf(t, Network{AllowedDomains: []string{"0.0.0.0/0", "::/0"}}); r.AllowsAddr(netip.Addr{}, 443) || r.NamesAddr(netip.Addr{}, 443) {
		t.Error("no address is allowed")
	}
}

func TestReachHostPorts(t *testing.T) {
	r := reachOf(t, Network{HostPorts: []int{5432, 80}})
	if !r.HostPort(5432) || !r.HostPort(80) || r.HostPort(443) || r.HostPort(0) || r.Empty() || len(r.Ports()) != 0 {
		t.Errorf("%+v", r)
	}
	r.HostPorts()[0] = 22
	if r.HostPort(22) || !slices.Equal(r.HostPorts(), []uint16{5432, 80}) {
		t.Error("a caller can change what is reached")
	}
}

// What did not come from Parse is refused, with nothing beside the error.
func TestReachRefuses(t *testing.T) {
	many := make([]int, 65)
	for i := range many {
		many[i] = 1000 + i
	}
	for _, n := range []Network{
		{AllowedDomains: []string{"a.example", "localhost"}}, {AllowedDomains: []string{"@nothing"}}, {AllowedDomains: []string{""}},
		{HostPorts: []int{0}}, {HostPorts: []int{-1}}, {HostPorts: []int{65536}}, {HostPorts: []int{1 << 40}}, {HostPorts: []int{53}}, {HostPorts: many},
	} {
		if r, err := n.Reach(); err == nil || !r.Empty() {
			t.Errorf("%+v: %+v, %v", n, r, err)
		}
	}
}

var drawLabel = rapid.SampledFrom([]string{"a", "b", "ab", "a-b", "_a", "1", "xa", "example"})

func drawName(t *rapid.T, label string, least int) string {
	return strings.Join(append(rapid.SliceOfN(drawLabel, least-1, 4).Draw(t, label), "example"), ".")
}

// A rule covers its own name, or those below it at a dot, and no other.
func TestNameBoundaries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, name := drawName(rt, "root", 2), drawName(rt, "name", 1)
		below := rapid.Bool().Draw(rt, "below")
		entry := root
		if below {
			entry = "*." + root
		}
		r := reachOf(t, Network{AllowedDomains: []string{entry}})
		have, want := strings.Split(name, "."), strings.Split(root, ".")
		fits := name == root
		if below {
			fits = len(have) > len(want) && slices.Equal(have[len(have)-len(want):], want)
		}
		if r.KnowsName(name) != fits || r.AllowsName(name, 443) != fits || r.AllowsName(name, 22) {
			rt.Fatalf("%s covers %s: %v, want %v", entry, name, r.KnowsName(name), fits)
		}
	})
}

// Expanding a policy changes nothing of what it reaches.
func TestExpandedReach(t *testing.T) {
	var entries []string
	for _, d := range goodDomains {
		entries = append(entries, d.want)
	}
	for _, p := range Presets() {
		entries = append(entries, "@"+p.Name, p.Domains[0].Domain)
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := Network{AllowedDomains: rapid.SliceOfN(rapid.SampledFrom(entries), 0, 12).Draw(rt, "entries"), HostPorts: []int{5432}}
		if a, b := reachOf(t, n), reachOf(t, n.Expanded()); !reflect.DeepEqual(a, b) {
			rt.Fatalf("%+v\nexpanded %+v", a, b)
		}
	})
}
