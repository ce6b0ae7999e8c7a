package deskport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/policy"
)

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		n    policy.Network
		want string
	}{
		{"nothing", policy.Network{}, ""},
		{"the port", policy.Network{HostPorts: []int{5432, 41234}}, "network.host_ports"},
		{"another port", policy.Network{HostPorts: []int{5432}}, ""},
		{"an address", policy.Network{AllowedDomains: []string{"127.0.0.1:41234"}}, "network.allowed_domains"},
		{"another port of it", policy.Network{AllowedDomains: []string{"127.0.0.1:41235"}}, ""},
		{"a network", policy.Network{AllowedDomains: []string{"127.0.0.0/8:41234"}}, "network.allowed_domains"},
		{"a public name", policy.Network{AllowedDomains: []string{"example.com:41234"}}, ""},
		{"localhost", policy.Network{AllowedDomains: []string{"localhost:41234"}}, "network.allowed_domains"},
		{"below localhost", policy.Network{AllowedDomains: []string{"desk-1.localhost:41234"}}, "network.allowed_domains"},
		{"all below localhost", policy.Network{AllowedDomains: []string{"*.localhost:41234"}}, "network.allowed_domains"},
	} {
		got, err := Named(c.n, 41234)
		if err != nil { // the policy cannot even be written
			t.Logf("%s: %v", c.name, err)
			continue
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A port is refused while its desk is open, and not when its file is only left over.
func TestAnnounce(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	named := policy.Network{HostPorts: []int{41234}}
	if err := Refusal(named); err != nil {
		t.Fatal(err)
	}
	end, err := Announce(41234)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := dir()
	file := filepath.Join(at, "41234")
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 || fi.Size() != 0 {
		t.Error(fi, err)
	}
	if ports, err := Open(); err != nil || !slices.Equal(ports, []uint16{41234}) {
		t.Error(ports, err)
	}
	if err := Refusal(named); err == nil || !strings.Contains(err.Error(), "network.host_ports names port 41234") {
		t.Error(err)
	}
	if err := Refusal(policy.Network{HostPorts: []int{41235}}); err != nil {
		t.Error(err)
	}
	if _, err := Announce(41234); err == nil {
		t.Error("two desks have one port")
	}
	end()
	if err := os.WriteFile(file, nil, 0o600); err != nil { // as after kill -9
		t.Fatal(err)
	}
	if err := Refusal(named); err != nil {
		t.Error(err)
	}
}
