package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/reach"
	"cordon/internal/strictyaml"
)

// Network names what a worker may reach. The zero values of its later keys are
// what a lease says that was sealed before there were these; they must stay absent
// when such a lease is encoded again.
type Network struct {
	AllowedDomains []string      `json:"allowed_domains"`
	HostPorts      []int         `json:"host_ports,omitempty"`
	Publish        []int         `json:"publish,omitempty"`
	Via            Via           `json:"via,omitempty"`
	Observe        Observe       `json:"observe,omitempty"`
	Limits         NetworkLimits `json:"limits,omitzero"`
}

// Expanded is the section as a lease is sealed with it: with the domains of each preset in
// its place, each once, so that a later list does not change it, and with what a worker tries
// recorded unless the policy says otherwise.
func (n Network) Expanded() Network {
	if n.Observe == ObserveWorkers {
		n.Observe = Observed
	}
	if n.AllowedDomains == nil {
		return n
	}
	var domains []string
	for _, s := range n.AllowedDomains {
		if p, ok := PresetNamed(s); ok {
			for _, d := range p.Domains {
				domains = append(domains, d.Domain)
			}
			continue
		}
		domains = append(domains, s)
	}
	n.AllowedDomains = distinct(domains)
	return n
}

// Older reports whether a section comes from before there was a way out of a cell:
// its hosts were checked by other rules, and opened nothing. Whoever agreed to it did
// not agree to more, so it opens nothing now.
func (n Network) Older() bool { return n.Via == "" }

// NetworkLimits bound what a worker does with its network.
type NetworkLimits struct {
	Connections int   `json:"connections,omitempty"` // at once; 0 is the default
	Queries     int   `json:"queries,omitempty"`     // names resolved in a second; 0 is the default
	Bytes       Bytes `json:"bytes,omitempty"`       // both ways together; 0 is no limit
}

// The limits where a policy names none. A browser opens some dozens of connections
// at once and a package manager asks for some dozens of names: only a flood meets
// these.
const (
	DefaultConnections = 1024
	DefaultQueries     = 100
)

// The largest limits that a policy may name: above these, what a cell can make of
// this machine is not bounded in practice.
const (
	maxConnections = 65536
	maxQueries     = 10_000
)

// Via is how programs in the cell find the way out. The empty string is
// Transparent, and so is anything else that is not a known word.
type Via string

// The ways.
const (
	Transparent Via = "transparent" // every program, without knowing it
	Proxy       Via = "proxy"       // those that heed the usual variables
)

// String gives the word.
func (v Via) String() string {
	if v == Proxy {
		return string(Proxy)
	}
	return string(Transparent)
}

func (v Via) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText refuses a word it does not know.
func (v *Via) UnmarshalText(text []byte) error {
	for _, known := range [...]Via{Transparent, Proxy} {
		if string(text) == string(known) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("via %q is not transparent or proxy", text)
}

func networkFields() []field {
	limits := func(p *Policy) *NetworkLimits { return &p.Network.Limits }
	return []field{
		strictyaml.Sequence("allowed_domains", "Servers that the worker may reach: api.example.com, *.example.com (names below it), host:8443, 203.0.113.7, 10.1.0.0/16:5432, [2001:db8::1]:443 or an @preset. Without a port: 80 and 443. Empty: none.", func(p *Policy) *[]string { return &p.Network.AllowedDomains }, readDomains),
		ports("host_ports", "Ports of this machine's loopback that the worker may connect to, for example a database or a model server.", func(p *Policy) *[]int { return &p.Network.HostPorts }, readPorts),
		ports("publish", "Ports on which a server of the worker can be seen in your browser (HTTP and WebSockets): cordon open prints the address. 1024 to 65535, at most 16.", func(p *Policy) *[]int { return &p.Network.Publish }, readPublish),
		scalar("via", "transparent: every program reaches the network. proxy: only programs that use http_proxy and similar variables do.", func(p *Policy) *Via { return &p.Network.Via }, readVia, Via.String),
		scalar("observe", "Record the connections that a command without network tries. They are still refused. auto: cordon run records them and reports them at its end, cordon exec does not.", func(p *Policy) *Observe { return &p.Network.Observe }, readObserve, Observe.String),
		section("limits", "Limits on the worker's network use.", []field{
			scalar("connections", "Connections open at once: 1 to 65536.", func(p *Policy) *int { return &limits(p).Connections }, readBetween("connections", maxConnections), showOr(DefaultConnections)),
			scalar("queries", "Names resolved in a second: 1 to 10000.", func(p *Policy) *int { return &limits(p).Queries }, readBetween("queries", maxQueries), showOr(DefaultQueries)),
			scalar("bytes", "Bytes sent and received by each launch, setup command and acceptance command: 512MiB, 2GB, or none.", func(p *Policy) *Bytes { return &limits(p).Bytes }, readBytes, Bytes.String),
		}),
	}
}

// readDomains also refuses a list that no cell could be opened for.
func readDomains(n *yaml.Node) ([]string, error) {
	entries, err := strictyaml.ReadList(n, checkDomain)
	if err != nil {
		return nil, err
	}
	entries = distinct(entries)
	_, err = Network{AllowedDomains: entries}.Reach()
	return entries, err
}

// ports is a field with a set of ports. None is nil, as it is when it comes from a
// lease that names none.
func ports(key, doc string, of func(*Policy) *[]int, read func(*yaml.Node) ([]int, error)) field {
	f := scalar(key, doc, of, read, nil)
	f.Show = func(p Policy) strictyaml.Shown {
		v := strictyaml.Shown{IsList: true, Bare: true}
		for _, port := range *of(&p) {
			v.List = append(v.List, strconv.Itoa(port))
		}
		return v
	}
	return f
}

func readPorts(n *yaml.Node) ([]int, error) {
	if n.Kind != yaml.SequenceNode {
		hint := strictyaml.ListHint(n)
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
			hint = "write [" + n.Value + "]"
		}
		return nil, fault{"expected a list, not " + strictyaml.Describe(n), hint}
	}
	var list []int
	for _, item := range n.Content {
		port, err := readPort(item)
		if err == nil && slices.Contains(list, port) {
			err = fault{"the port " + item.Value + " is given twice", ""}
		}
		if err != nil {
			return nil, strictyaml.At(item, err)
		}
		list = append(list, port)
	}
	if len(list) > reach.MaxPorts {
		return nil, reach.TooManyPorts(len(list))
	}
	return list, nil
}

func readPort(n *yaml.Node) (int, error) {
	port, ok := reach.ParsePort(n.Value)
	if n.Kind != yaml.ScalarNode || !strictyaml.Plain(n) || !ok {
		return 0, fault{"expected a port, not " + strictyaml.Describe(n), portHint(n)}
	}
	return int(port), reach.CheckPort(port)
}

// portHint says how what was meant as a port is written.
func portHint(n *yaml.Node) string {
	last := n.Value[strings.LastIndexByte(n.Value, ':')+1:]
	_, alone := reach.ParsePort(n.Value)
	_, behind := reach.ParsePort(last)
	switch {
	case n.Kind == yaml.ScalarNode && alone:
		return "write it without quotes: " + n.Value
	case n.Kind == yaml.ScalarNode && behind:
		return "write the port alone: " + last
	}
	return "write a number from 1 to 65535"
}

func readBetween(things string, most int) func(*yaml.Node) (int, error) {
	return func(n *yaml.Node) (int, error) {
		if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && isNumber(n.Value) {
			if v, err := strconv.Atoi(n.Value); err == nil && v <= most {
				return v, nil
			}
		}
		return 0, fault{"expected a number of " + things + ", not " + strictyaml.Describe(n), "write a whole number from 1 to " + strconv.Itoa(most)}
	}
}

// showOr shows a limit that is not there as its default.
func showOr(usual int) func(int) string {
	return func(n int) string {
		if n == 0 {
			n = usual
		}
		return strconv.Itoa(n)
	}
}

func readVia(n *yaml.Node) (Via, error) {
	var v Via
	if n.Kind != yaml.ScalarNode || v.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected transparent or proxy, not " + strictyaml.Describe(n), ""}
	}
	return v, nil
}

// Reach compiles the section.
func (n Network) Reach() (reach.Reach, error) {
	return reach.New(n.Expanded().AllowedDomains, n.HostPorts)
}

// checkDomain accepts an entry of allowed_domains and returns its normal form.
func checkDomain(s string) (string, error) {
	if strings.HasPrefix(s, "@") {
		if p, ok := PresetNamed(s); ok {
			return "@" + p.Name, nil
		}
		return "", fault{quote(s) + " is not a preset", suggestPreset(s)}
	}
	d, err := reach.ParseDomain(s)
	if err != nil {
		return "", err
	}
	return d.String(), nil
}
