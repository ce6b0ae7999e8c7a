package policy

import (
	"slices"
	"testing"
)

func TestJoined(t *testing.T) {
	a, b := Default(), Default()
	a.Filesystem.WriteRoots, b.Filesystem.WriteRoots = []string{"src"}, []string{"docs", "src"}
	a.Filesystem.DenyRead, b.Filesystem.DenyRead = []string{"~/.ssh"}, []string{"~/.aws"}
	b.Filesystem.ReadRoots = []string{"/usr"}
	a.Network.AllowedDomains, b.Network.AllowedDomains = []string{"a.example", "b.example"}, []string{"b.example", "c.example"}
	a.Network.HostPorts, b.Network.HostPorts = []int{80, 81}, []int{81}
	a.Secrets, b.Secrets = []string{"A", "B"}, []string{"B"}
	a.Acceptance, b.Acceptance = []string{"make a"}, []string{"make a", "make b"}
	b.Limits.Processes, b.Agent.MCP = 7, []string{}
	for name, got := range map[string]Policy{"one way": a.Joined(b), "the other way": b.Joined(a)} {
		for _, c := range []struct {
			what      string
			got, want []string
		}{
			{"write_roots", got.Filesystem.WriteRoots, []string{"src", "docs"}},
			{"deny_read", got.Filesystem.DenyRead, []string{"~/.ssh", "~/.aws"}},
			{"read_roots", got.Filesystem.ReadRoots, []string{"/usr"}},
			{"domains", got.Network.AllowedDomains, []string{"b.example"}},
			{"ports", portTexts(got.Network.HostPorts), []string{"81"}},
			{"secrets", got.Secrets, []string{"B"}},
			{"mcp", got.Agent.MCP, []string{}},
			{"acceptance", got.Acceptance, []string{"make a", "make b"}},
		} {
			slices.Sort(c.got)
			slices.Sort(c.want)
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: %s is %v, and not %v", name, c.what, c.got, c.want)
			}
		}
		if got.Limits.Processes != 7 {
			t.Errorf("%s: %d processes", name, got.Limits.Processes)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
