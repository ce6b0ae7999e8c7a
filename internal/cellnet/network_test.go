package cellnet

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

func named40() []string {
	var list []string
	for i := range 40 {
		list = append(list, fmt.Sprintf("host-%d.example.com", i))
	}
	return list
}

// What a worker can reach fits into a line of a terminal, and says how much it
// leaves out.
func TestListed(t *testing.T) {
	for want, n := range map[string]policy.Network{
		"none; what it tries to reach is recorded":        {Observe: policy.Observed},
		"api.example.com":                                 {AllowedDomains: []string{"api.example.com"}},
		"host port 5432":                                  {HostPorts: []int{5432}},
		"@npm, *.crates.io:443 and host ports 5432, 6379": {AllowedDomains: []string{"@npm", "*.crates.io:443"}, HostPorts: []int{5432, 6379}},
		"host-0.example.com, host-1.example.com, 38 more and host ports 1, 2, 3": {AllowedDomains: named40(), HostPorts: []int{1, 2, 3}},
		"host ports 10000, 10001, 4 more":                                        {HostPorts: []int{10000, 10001, 10002, 10003, 10004, 10005}},
		"a.example, b.example, c.example, d.example":                             {AllowedDomains: []string{"a.example", "b.example", "c.example", "d.example"}},
		strings.Repeat("x", 70) + ".example, 1 more":                             {AllowedDomains: []string{strings.Repeat("x", 70) + ".example", "b.example"}},
		"a.example and host ports 1, 2, 3, 4, 5, 6":                              {AllowedDomains: []string{"a.example"}, HostPorts: []int{1, 2, 3, 4, 5, 6}},
		"a.example and host ports 65530, 65531, 4 more":                          {AllowedDomains: []string{"a.example"}, HostPorts: []int{65530, 65531, 65532, 65533, 65534, 65535}},
		"host-0.example.com, 39 more and host ports 65530, 65531":                {AllowedDomains: named40(), HostPorts: []int{65530, 65531}},
	} {
		got := listReach(n, reachRoom)
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if utf8.RuneCountInString(got) > reachRoom && len(n.AllowedDomains) != 2 {
			t.Errorf("%q is too long", got)
		}
	}
}

// Where there is room, nothing is left out.
func TestListedWhole(t *testing.T) {
	n := policy.Network{AllowedDomains: named40(), HostPorts: []int{65530, 65531, 65532, 65533, 65534, 65535}}
	want := strings.Join(named40(), ", ") + " and host ports 65530, 65531, 65532, 65533, 65534, 65535"
	if got := listReach(n, 0); got != want {
		t.Errorf("%q", got)
	}
	p := policy.Default()
	p.Network.AllowedDomains = named40()
	if got := AllReachable(p, append(cell.Every(), cell.Network)); len(got) != 1 || got[0] != strings.Join(named40(), ", ") {
		t.Errorf("%q", got)
	}
}

// What a command may have missed is said of one that failed, and of no other.
func TestUnreached(t *testing.T) {
	named, none, older, watched := policy.Default(), policy.Default(), policy.Default(), policy.Default()
	watched.Network.Observe = policy.Observed
	named.Network.AllowedDomains = []string{"a.example"}
	none.Isolation = policy.None
	older.Network = policy.Network{AllowedDomains: []string{"a.example"}}
	whole := append(cell.Every(), cell.Network)
	failed := cell.Exit{Code: 1, Reason: cell.Exited}
	for name, row := range map[string]struct {
		policy policy.Policy
		layers []cell.Layer
		exit   cell.Exit
		want   string
	}{
		"failed":         {policy.Default(), cell.Every(), failed, "the cell had no network: "},
		"out of time":    {policy.Default(), cell.Every(), cell.Exit{Code: 143, Reason: cell.TimedOut}, "the cell had no network: "},
		"proxy":          {named, cell.Every(), failed, "programs that ignore the proxy variables reached nothing"},
		"proxy, well":    {named, cell.Every(), cell.Exit{Reason: cell.Exited}, ""},
		"well":           {policy.Default(), cell.Every(), cell.Exit{Reason: cell.Exited}, ""},
		"not there":      {policy.Default(), cell.Every(), cell.Exit{Code: 127, Reason: cell.Exited}, ""},
		"killed":         {policy.Default(), cell.Every(), cell.Exit{Code: 137, Reason: cell.Exited}, ""},
		"interrupted":    {policy.Default(), cell.Every(), cell.Exit{Code: 1, Reason: cell.Interrupted}, ""},
		"not started":    {policy.Default(), cell.Every(), cell.Exit{Code: 125, Reason: cell.NotStarted}, ""},
		"a network":      {named, whole, failed, ""},
		"no namespaces":  {policy.Default(), []cell.Layer{cell.Landlock}, failed, ""},
		"unconfined":     {none, nil, failed, ""},
		"observed":       {watched, whole, failed, ""},
		"not observed":   {watched, cell.Every(), failed, "the cell had no network: network.allowed_domains is empty"},
		"an older lease": {older, cell.Every(), failed, ""},
	} {
		got := Unreached(row.policy, row.layers, row.exit)
		if (got == "") != (row.want == "") || !strings.HasPrefix(got, row.want) || utf8.RuneCountInString("cordon: "+got) > 100 {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	of := func(n policy.Network) policy.Policy {
		if n.Via == "" {
			n.Via = policy.Transparent
		}
		return policy.Policy{Isolation: policy.Strict, Network: n}
	}
	for name, row := range map[string]struct {
		policy policy.Policy
		want   *cell.Net
		says   string
	}{
		"nothing": {of(policy.Network{}), nil, "none but its own loopback"},
		"observe": {of(policy.Network{Observe: policy.Observed}), &cell.Net{Ports: []uint16{80, 443}, Anywhere: true, Spare: true}, "none; what it tries to reach is recorded"},
		"port":    {of(policy.Network{HostPorts: []int{5432}}), &cell.Net{Ports: []uint16{80, 443}, Host: []uint16{5432}, Anywhere: true}, "host port 5432"},
		"name":    {of(policy.Network{AllowedDomains: []string{"a.example"}}), &cell.Net{Ports: []uint16{80, 443}, Anywhere: true}, "a.example"},
		"ports":   {of(policy.Network{AllowedDomains: []string{"a.example:22", "b.example:8443"}}), &cell.Net{Ports: []uint16{22, 80, 443, 8443}, Anywhere: true}, "a.example:22, b.example:8443"},
		"proxy":   {of(policy.Network{AllowedDomains: []string{"a.example"}, Via: policy.Proxy}), &cell.Net{Ports: []uint16{80, 443}}, "through a proxy (programs that ignore proxy variables reach nothing)|a.example"},
		"none":    {policy.Policy{Isolation: policy.None, Network: policy.Network{HostPorts: []int{1}, Via: policy.Transparent}}, nil, "not restricted: isolation is none, so it reaches whatever you can reach"},
	} {
		n, err := For(row.policy)
		if err != nil || (n == nil) != (row.want == nil) {
			t.Errorf("%s: %+v %v", name, n, err)
			continue
		}
		layers := cell.Every()
		if n != nil {
			if fmt.Sprint(n.cell) != fmt.Sprint(*row.want) {
				t.Errorf("%s: %+v, want %+v", name, n.cell, *row.want)
			}
			if n.cell.Anywhere {
				layers = append(layers, cell.Network)
			}
		}
		if says := strings.Join(Reachable(row.policy, layers), "|"); says != row.says {
			t.Errorf("%s: %q, want %q", name, says, row.says)
		}
	}
	if n, err := For(of(policy.Network{AllowedDomains: []string{"https://a.example"}})); err == nil {
		t.Errorf("a lease that cannot be: %+v", n)
	}
}

// What is said of the weaker forms is what they are: without namespaces only some of
// what ignores the proxy is held.
func TestReachableWeaker(t *testing.T) {
	p := policy.Default()
	p.Network.AllowedDomains = []string{"a.example"}
	older := policy.Policy{Isolation: policy.Degraded, Network: policy.Network{AllowedDomains: []string{"localhost"}}}
	const opensNothing = "the lease was made before cells had a network and opens nothing"
	for name, row := range map[string]struct {
		policy policy.Policy
		layers []cell.Layer
		want   string
	}{
		"without the layer":   {p, cell.Every(), "through a proxy (programs that ignore proxy variables reach nothing)|a.example"},
		"without namespaces":  {p, []cell.Layer{cell.Landlock, cell.Seccomp}, "through a proxy; without namespaces, programs that ignore it are not all stopped|a.example"},
		"without anything":    {p, nil, "through a proxy; without namespaces, programs that ignore it are not all stopped|a.example"},
		"older":               {older, cell.Every(), opensNothing},
		"older, bare":         {older, []cell.Layer{cell.Landlock}, opensNothing},
		"older, names nobody": {policy.Policy{Isolation: policy.Strict}, cell.Every(), "none but its own loopback"},
	} {
		if got := strings.Join(Reachable(row.policy, row.layers), "|"); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
