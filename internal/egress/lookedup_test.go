package egress

import (
	"net/netip"
	"slices"
	"testing"

	"cordon/internal/egress/record"
	"cordon/internal/policy"
)

// What is asked for outside can be read by whoever has the domain: it is recorded,
// each name once, whether it exists or not, and by whatever way it is asked for.
func TestLookedUpNamesAreRecorded(t *testing.T) {
	cell, at := proxyOf(t, policy.Network{AllowedDomains: []string{"*.wild.example"}}, plainServer(t).Listener.Addr().String(), "")
	cell.world.addrs = map[string][]netip.Addr{"secret.wild.example": nil}
	for range 3 {
		for _, name := range []string{"secret.wild.example", "other.wild.example", "wild.example", "bad.example"} {
			cell.dns.Answer(t.Context(), question(name))
		}
		cell.resolver.Forget() // it has run out
	}
	tellProxy(t, at, "GET http://by-proxy.wild.example/ HTTP/1.1\r\nHost: by-proxy.wild.example\r\n\r\n")
	cell.Close()
	var got []string
	for _, r := range cell.kept {
		if r.Kind == record.Resolve && r.Verdict == record.Allowed {
			got = append(got, r.Name)
		}
	}
	if want := []string{"secret.wild.example", "other.wild.example", "by-proxy.wild.example"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if tally := tallyOf(cell.kept...); tally.Allowed != 1 || tally.Resolved != 2 || tally.Refused != 2 {
		t.Errorf("%+v", tally)
	}
}
