package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The keys of the section but for its hosts, which are in domain_test.go.
var networkMistakes = []struct{ name, text, want string }{
	{"publish is a number", "network: {publish: 3000}\n", `p:1:20: expected a list, not the number 3000 (write [3000])`},
	{"publish for root", "network: {publish: [3000, 80]}\n", `p:1:27: a worker cannot listen on port 80 (use 1024 or more)`},
	{"publish too high", "network: {publish: [65536]}\n", `p:1:21: expected a port, not the number 65536 (write a number from 1 to 65535)`},
	{"publish twice", "network: {publish: [3000, 3000]}\n", `p:1:27: the port 3000 is given twice`},
	{"publish many", "network: {publish: [" + numbers(17, "3%03d") + "]}\n", `p:1:20: 17 ports are published (at most 16 can be)`},
	{"publish any", "network: {publish: [any]}\n", `p:1:21: expected a port, not the text "any" (write a number from 1 to 65535)`},
	{"publish and host_ports", "network: {publish: [3000], host_ports: [3000]}\n", `p: network.publish and network.host_ports both name port 3000 (in the cell it can be one of them only)`},
	{"publish and a server", "network: {publish: [8443], allowed_domains: ['a.example:8443']}\n", `p: network.publish names port 8443, which allowed_domains uses too (let the worker's server listen on another port)`},
	{"host_ports is a number", "network: {host_ports: 5432}\n", `p:1:23: expected a list, not the number 5432 (write [5432])`},
	{"host_ports is null", "network: {host_ports: }\n", `p:1:23: expected a list, not nothing (write [] for nothing, or leave the key out for its default)`},
	{"host_ports in quotes", "network: {host_ports: ['5432']}\n", `p:1:24: expected a port, not the text "5432" (write it without quotes: 5432)`},
	{"host_ports with a host", "network: {host_ports: ['localhost:5432']}\n", `p:1:24: expected a port, not the text "localhost:5432" (write the port alone: 5432)`},
	{"host_ports with a host, plain", "network: {host_ports: [localhost:5432]}\n", `p:1:24: expected a port, not the text "localhost:5432" (write the port alone: 5432)`},
	{"host_ports word", "network: {host_ports: ['x']}\n", `p:1:24: expected a port, not the text "x" (write a number from 1 to 65535)`},
	{"host_ports 0", "network: {host_ports: [0]}\n", `p:1:24: expected a port, not the number 0 (write a number from 1 to 65535)`},
	{"host_ports too high", "network: {host_ports: [1, 65536]}\n", `p:1:27: expected a port, not the number 65536 (write a number from 1 to 65535)`},
	{"host_ports below zero", "network: {host_ports: [-1]}\n", `p:1:24: expected a port, not the number -1 (write a number from 1 to 65535)`},
	{"host_ports in hex", "network: {host_ports: [0x10]}\n", `p:1:24: expected a port, not the number 0x10 (write a number from 1 to 65535)`},
	{"host_ports list in it", "network: {host_ports: [[1]]}\n", `p:1:24: expected a port, not a list (write a number from 1 to 65535)`},
	{"host_ports twice", "network: {host_ports: [80, 443, 80]}\n", `p:1:33: the port 80 is given twice`},
	{"host_ports names", "network: {host_ports: [53]}\n", `p:1:24: port 53 is never passed on: names are resolved by cordon itself (leave it out)`},
	{"host_ports many", "network: {host_ports: [" + numbers(65, "%d") + "]}\n", `p:1:23: 65 different ports are named (at most 64 can be)`},
	{"via other", "network: {via: tun}\n", `p:1:16: expected transparent or proxy, not the text "tun"`},
	{"via upper", "network: {via: Proxy}\n", `p:1:16: expected transparent or proxy, not the text "Proxy"`},
	{"via null", "network: {via: }\n", `p:1:16: expected transparent or proxy, not nothing`},
	{"observe word", "network: {observe: 'true'}\n", `p:1:20: expected auto, true or false, not the text "true"`},
	{"connections none", "network: {limits: {connections: none}}\n", `p:1:33: expected a number of connections, not the text "none" (write a whole number from 1 to 65536)`},
	{"connections 0", "network: {limits: {connections: 0}}\n", `p:1:33: expected a number of connections, not the number 0 (write a whole number from 1 to 65536)`},
	{"connections many", "network: {limits: {connections: 65537}}\n", `p:1:33: expected a number of connections, not the number 65537 (write a whole number from 1 to 65536)`},
	{"queries many", "network: {limits: {queries: 10001}}\n", `p:1:29: expected a number of queries, not the number 10001 (write a whole number from 1 to 10000)`},
	{"network bytes", "network: {limits: {bytes: 5}}\n", `p:1:27: expected a size, not the number 5 (write one whole number and one unit, such as 512MiB or 2GB, or none)`},
	{"network limits key", "network: {limits: {conections: 5}}\n", `p:1:20: unknown key "conections" (did you mean connections?)`},
}

// numbers are n of them from 1000 on, as the entries of a list.
func numbers(n int, format string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(format, 1000+i))
	}
	return strings.Join(list, ", ")
}

func TestNetworkMistakes(t *testing.T) {
	for _, m := range networkMistakes {
		if _, err := Parse("p", []byte(m.text)); err == nil || err.Error() != m.want {
			t.Errorf("%s\n got %v\nwant %s", m.name, err, m.want)
		}
	}
}

// What the section leaves out has its default, and says no more than that.
func TestNetworkMissingKeys(t *testing.T) {
	p, err := Parse("p", []byte("network: {limits: {queries: 7}, host_ports: []}\n"))
	want := Default().Network
	want.Limits.Queries = 7
	if err != nil || !reflect.DeepEqual(p.Network, want) {
		t.Errorf("%+v, %v; want %+v", p.Network, err, want)
	}
	if want := (Network{AllowedDomains: []string{}, Via: Transparent, Observe: ObserveWorkers, Limits: NetworkLimits{1024, 100, 0}}); !reflect.DeepEqual(Default().Network, want) {
		t.Errorf("the default is %+v, want %+v", Default().Network, want)
	}
}

// A worker is observed unless its policy says otherwise, and a lease says so in a form that
// every version reads. A lease that says nothing is from before that.
func TestObserve(t *testing.T) {
	for text, sealed := range map[string]string{"{}": `"observe":true`, "{observe: auto}": `"observe":true`, "{observe: true}": `"observe":true`, "{observe: false}": ""} {
		p, err := Parse("p", []byte("network: "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		n := p.Network.Expanded()
		out, err := json.Marshal(n)
		if err != nil || strings.Contains(string(out), "observe") != (sealed != "") || !strings.Contains(string(out), sealed) {
			t.Errorf("%s is sealed as %s, %v", text, out, err)
		}
		var again Network
		if err := json.Unmarshal(out, &again); err != nil || again.Observe != n.Observe {
			t.Errorf("%s is read as %v, %v", out, again.Observe, err)
		}
	}
	if (Network{}).Expanded().Observe != Unobserved {
		t.Error("a lease from before is observed")
	}
	var o Observe
	for _, word := range []string{`"yes"`, "1", "null", `"Auto"`} {
		if err := o.UnmarshalJSON([]byte(word)); err == nil {
			t.Errorf("%s is read as %v", word, o)
		}
	}
}

func TestViaZeroIsTransparent(t *testing.T) {
	for v, want := range map[Via]string{"": "transparent", Transparent: "transparent", Proxy: "proxy", "Proxy": "transparent", "off": "transparent"} {
		if v.String() != want {
			t.Errorf("%q is %s, want %s", string(v), v, want)
		}
	}
	for _, text := range []string{`""`, `"off"`, `"Proxy"`, `1`} {
		var v Via
		if json.Unmarshal([]byte(text), &v) == nil {
			t.Errorf("%s was decoded as %q", text, v)
		}
	}
}

// A draft writes ports as numbers, whether they hold or are offered.
func TestDraftPorts(t *testing.T) {
	text, p := draftOf(t, Draft{Lists: map[string]Entry{"network.host_ports": {Set: []string{"5432"}, Offer: []string{"8080"}}}})
	if !slices.Equal(p.Network.HostPorts, []int{5432}) || !strings.Contains(text, "\n    #- 8080\n") {
		t.Errorf("%v\n%s", p.Network.HostPorts, text)
	}
}

func TestExpanded(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{}, []string{}},
		{[]string{"a.example"}, []string{"a.example"}},
		{[]string{"a.example", "@pypi", "b.example"}, []string{"a.example", "pypi.org", "files.pythonhosted.org", "b.example"}},
		{[]string{"files.pythonhosted.org", "@pypi", "@pypi"}, []string{"files.pythonhosted.org", "pypi.org"}},
		{[]string{"@nothing"}, []string{"@nothing"}},
	} {
		n := Network{AllowedDomains: slices.Clone(c.in), Observe: Observed}
		got := n.Expanded()
		if !reflect.DeepEqual(got.AllowedDomains, c.want) || got.Observe != Observed {
			t.Errorf("%q: %q, want %q", c.in, got.AllowedDomains, c.want)
		}
		if !reflect.DeepEqual(n.AllowedDomains, c.in) {
			t.Errorf("%q was changed to %q", c.in, n.AllowedDomains)
		}
		if again := got.Expanded(); !reflect.DeepEqual(again, got) {
			t.Errorf("%q expands twice", c.in)
		}
	}
}

// Each preset is in its normal form, says why, and fits a line.
func TestPresets(t *testing.T) {
	want := []string{"@anthropic", "@openai", "@google", "@copilot", "@opencode", "@qwen", "@openrouter", "@github", "@npm", "@go", "@crates", "@pypi", "@debian"}
	if got := presetNames(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, p := range Presets() {
		if len(p.Version) != len("2006-01-02") || p.What == "" || len(p.Domains) == 0 {
			t.Errorf("%+v", p)
		}
		for _, d := range p.Domains {
			if clean, err := checkDomain(d.Domain); err != nil || clean != d.Domain || strings.HasPrefix(clean, "@") || d.Why == "" {
				t.Errorf("@%s: %+v is %q, %v", p.Name, d, clean, err)
			}
		}
	}
	Presets()[0].Domains[0].Domain = "evil.example"
	if p, _ := PresetNamed("@anthropic"); p.Domains[0].Domain == "evil.example" {
		t.Error("a caller can change a preset")
	}
	if _, ok := PresetNamed("npm"); ok {
		t.Error("a preset without its @")
	}
}

// The schema offers each preset.
func TestSchemaPresets(t *testing.T) {
	var root struct {
		Properties struct {
			Network struct {
				Properties struct {
					Domains struct {
						Items struct {
							AnyOf []struct{ Enum []string }
						}
					} `json:"allowed_domains"`
				}
			}
		}
	}
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	if got := root.Properties.Network.Properties.Domains.Items.AnyOf[0].Enum; !slices.Equal(got, presetNames()) {
		t.Errorf("the schema offers %q", got)
	}
}

// listed is a policy with these hosts, as YAML.
func listed(t testing.TB, domains ...string) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"network": map[string]any{"allowed_domains": domains}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
