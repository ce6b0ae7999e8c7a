package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"cordon/internal/egress/watch"
	"cordon/internal/policy"
)

// A port of the cell's loopback that is closed is told of once, whoever asks how
// often, and what else happens there is not.
func TestUnserved(t *testing.T) {
	cell := newCell(t, policy.Network{AllowedDomains: []string{"good.example"}, HostPorts: []int{11434}}, "")
	for _, c := range []struct {
		to   string
		what watch.Sighting
	}{
		{"127.0.0.1:5432", watch.Opening}, {"127.0.0.1:5432", watch.Datagram}, {"127.0.0.1:5432", watch.Closed}, {"[::1]:5432", watch.Closed}, {"127.0.0.1:5432", watch.Closed},
		{"127.0.0.2:11434", watch.Closed}, {"93.184.216.34:22", watch.Closed}, {"198.18.0.1:22", watch.Closed}, {"198.18.0.1:22", watch.Opening},
		{"[::1]:53", watch.Closed}, {"93.184.216.34:22", watch.Opening}, {"93.184.216.34:22", watch.Opening}, {"[2606:4700::1]:443", watch.Datagram},
	} {
		cell.unserved(netip.MustParseAddrPort(c.to), c.what)
	}
	var got []string
	for _, r := range cell.kept {
		got = append(got, fmt.Sprintf("%s %s %s%s:%d %q %s", r.Kind, r.Verdict, r.Name, r.Address, r.Port, r.Allow, r.Reason))
	}
	const address = `connect refuse 93.184.216.34:22 "93.184.216.34:22" 93.184.216.34:22 is an address that no name was resolved to, and not in network.allowed_domains`
	want := []string{
		`connect refuse localhost:5432 ":5432" port 5432 of this machine is not in network.host_ports`,
		`connect refuse localhost:53 "" port 53 of this machine is not in network.host_ports`,
		address, address,
		`packet refuse 2606:4700::1:443 "" UDP and QUIC do not leave a cell`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
