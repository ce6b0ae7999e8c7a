package launch

import (
	"reflect"
	"testing"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// A cell that reaches nothing has a server that knows no name, and no other socket.
func TestNoNetwork(t *testing.T) {
	t.Chdir(t.TempDir()) // for the file with the server's address
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
		err := connect(s, &c, lease.Lease{Terms: lease.Terms{Policy: p}})
		if p.Isolation == policy.None {
			if err != nil || c.Serve != nil || c.Cell.Net != nil || c.Cell.Bind != nil {
				t.Errorf("%s: %+v %v", name, c, err)
			}
			continue
		}
		if want := (&cell.Net{Names: true, Spare: true}); err != nil || c.Serve == nil || !reflect.DeepEqual(c.Cell.Net, want) || len(c.Cell.Bind) > 1 {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
}
