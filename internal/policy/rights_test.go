package policy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Without a bound, a policy stays as it is.
func TestAllRights(t *testing.T) {
	for _, text := range []string{"version: 1\n", full} {
		p, err := Parse("p", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if q, lost := p.Within(AllRights()); len(lost) > 0 || !q.Equal(p) {
			t.Errorf("lost %q", lost)
		}
	}
}

func TestWithin(t *testing.T) {
	p, err := Parse("p", []byte(`
filesystem: {deny_write: [a]}
network: {allowed_domains: ["@npm", api.example.com, "*.example.org", pypi.org], host_ports: [5432, 80], publish: [3000, 3001]}
cell: {trace: true}
agent: {web: true}
secrets: [TOKEN, OTHER]
limits: {time: 4h, memory: none, processes: 100, disk: 1GiB}
isolation: none
acceptance: ["true"]
`))
	if err != nil {
		t.Fatal(err)
	}
	r := AllRights()
	r.Filesystem.DenyWrite = []string{"a", "infra"}
	r.Network.AllowedDomains = []string{"@npm", "*.example.com", "docs.example.org"}
	r.Network.HostPorts, r.Network.Publish, r.Secrets = []string{"5432"}, []string{"3001", "4000"}, []string{"TOKEN"}
	r.Cell.Trace, r.Agent.Web = false, false
	r.Limits.Time, r.Limits.Memory, r.Limits.Processes, r.Limits.Disk = Duration(time.Hour), 8<<30, 200, 2<<30
	r.Isolation, r.Gate.Land, r.Gate.Attempts = Degraded, LandReview, 2
	got, lost := p.Within(r)
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"@npm", "api.example.com", "docs.example.org"}; !slices.Equal(got.Network.AllowedDomains, want) {
		t.Errorf("domains %q, want %q", got.Network.AllowedDomains, want)
	}
	if !slices.Equal(got.Filesystem.DenyWrite, []string{"a", "infra"}) || !slices.Equal(got.Network.HostPorts, []int{5432}) || !slices.Equal(got.Secrets, []string{"TOKEN"}) {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.Network.Publish, []int{3001}) || got.Cell.Trace || got.Agent.Web || !p.Cell.Trace || !p.Agent.Web || len(p.Network.Publish) != 2 {
		t.Errorf("publish %v, trace %v", got.Network.Publish, got.Cell.Trace)
	}
	want := Limits{Time: Duration(time.Hour), Memory: 8 << 30, Processes: 100, Disk: 1 << 30}
	if got.Limits != want || got.Isolation != Degraded || got.Gate.Land != LandReview || got.Gate.Attempts != 2 {
		t.Errorf("%+v", got)
	}
	said := strings.Join(lost, "; ")
	for _, want := range []string{
		"filesystem.deny_write: infra", "allowed_domains: without *.example.org, pypi.org", "host_ports: without 80", "network.publish: without 3000", "cell.trace: false instead of true", "agent.web: false instead of true", "secrets: without OTHER",
		"limits.time: 1h instead of 4h", "limits.memory: 8GiB instead of none", "isolation: degraded instead of none", "gate.land: review instead of careful",
		"gate.attempts: 2 instead of 5",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	if again, lost := got.Within(r); len(lost) > 0 || !again.Equal(got) {
		t.Errorf("a second time it loses %q", lost)
	}
	if none, _ := p.Within(Rights{}); len(none.Network.AllowedDomains)+len(none.Network.HostPorts)+len(none.Network.Publish)+len(none.Secrets) > 0 || none.Isolation != Strict || none.Cell.Trace || none.Agent.Web {
		t.Errorf("the zero rights allow %+v", none)
	}
}

func TestMeet(t *testing.T) {
	for _, c := range []struct{ asked, bound, want string }{
		{"a.com", "a.com", "a.com"},
		{"a.com", "b.com", ""},
		{"a.com", "*.a.com", ""},
		{"x.a.com", "*.a.com", "x.a.com"},
		{"xa.com", "*.a.com", ""},
		{"*.a.com", "x.a.com", "x.a.com"},
		{"*.x.a.com", "*.a.com", "*.x.a.com"},
		{"*.a.com", "*.x.a.com", "*.x.a.com"},
		{"*.a.com", "a.com", ""},
		{"a.com:443", "a.com", "a.com:443"},
		{"a.com", "a.com:443", "a.com:443"},
		{"a.com:8443", "a.com", ""},
		{"a.com:8443", "a.com:443", ""},
		{"10.1.0.0/16", "10.0.0.0/8", "10.1.0.0/16"},
		{"10.0.0.0/8", "10.1.2.3:443", "10.1.2.3:443"},
		{"10.0.0.0/8", "11.0.0.0/8", ""},
		{"a.com", "0.0.0.0/0", ""},
		{"[2001:db8::1]:443", "2001:db8::/32", "[2001:db8::1]:443"},
	} {
		got, dropped := meetAll([]string{c.asked}, []string{c.bound})
		if strings.Join(got, " ") != c.want || (c.want == c.asked) != (len(dropped) == 0) {
			t.Errorf("%s within %s is %q, without %q; want %q", c.asked, c.bound, got, dropped, c.want)
		}
	}
}

// Meet never gives more than either side, and AllRights changes nothing.
func TestRightsMeet(t *testing.T) {
	var narrow Rights
	narrow.Filesystem.DenyRead = []string{"~/x"}
	narrow.Network.AllowedDomains, narrow.Network.HostPorts, narrow.Network.Publish = []string{"@npm"}, []string{"1"}, []string{}
	narrow.Secrets, narrow.Isolation, narrow.Gate.Land, narrow.Gate.Attempts = []string{"A"}, Strict, LandReview, 2
	narrow.Limits.Time, narrow.Limits.Memory = 5, 7
	wide := opened()
	within, lost := wide.Within(narrow)
	for _, met := range []Rights{narrow.Meet(AllRights()), AllRights().Meet(narrow), narrow.Meet(narrow)} {
		got, gotLost := wide.Within(met)
		if !got.Equal(within) || !slices.Equal(gotLost, lost) {
			t.Errorf("got %s, want %s", gotLost, lost)
		}
	}
}

func opened() Policy {
	p := Default()
	p.Isolation, p.Secrets, p.Cell.Trace, p.Agent.Web = None, []string{"A", "B"}, true, true
	p.Network.AllowedDomains, p.Network.HostPorts = []string{"@npm", "@pypi"}, []int{1, 2}
	p.Gate.Land = LandAuto
	return p
}
