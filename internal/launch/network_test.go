package launch

import (
	"testing"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// Nothing is paid where nothing can be reached.
func TestNoNetwork(t *testing.T) {
	t.Chdir(t.TempDir()) // a mistake would write here
	for name, p := range map[string]policy.Policy{
		"default": policy.Default(),
		"none":    {Isolation: policy.None, Network: policy.Network{HostPorts: []int{1}, Via: policy.Transparent}},
		"older":   {Isolation: policy.Strict, Network: policy.Network{AllowedDomains: []string{"api.anthropic.com", "@npm"}}},
		"no host": {Isolation: policy.Strict, Network: policy.Network{AllowedDomains: []string{"localhost"}}},
	} {
		if n, err := cellnet.For(p); n != nil || err != nil {
			t.Errorf("%s: %+v %v", name, n, err)
		}
		c := cell.Command{Cell: &cell.Order{}}
		s := &worksite.Site{}
		if err := connect(s, &c, lease.Lease{Terms: lease.Terms{Policy: p}}); err != nil || c.Serve != nil || c.Cell.Net != nil || c.Cell.Bind != nil {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
}
