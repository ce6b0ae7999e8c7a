package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/agent/facts"
	"cordon/internal/strictyaml"
)

// Fleet bounds what the home of a fleet has run at the same time, and says where results of nodes are tested.
type Fleet struct {
	AtMost     []string `json:"at_most"`    // CLIENT=NUMBER or PROVIDER=NUMBER
	Results    int      `json:"results"`    // that wait to be judged; 0: no bound
	Acceptance TestedAt `json:"acceptance"` // of results of nodes
}

// TestedAt is where acceptance commands run.
type TestedAt string

// The places.
const (
	AtHome TestedAt = "home"
	OnNode TestedAt = "node" // another one than the one that made the result
)

// Bounds are those of Fleet.AtMost. A name that a client has is the client's.
func (f Fleet) Bounds() (clients, providers map[string]int) {
	clients, providers = map[string]int{}, map[string]int{}
	for _, entry := range f.AtMost {
		name, n, _ := strings.Cut(entry, "=")
		of := providers
		if facts.Named(name) != nil {
			of = clients
		}
		of[name], _ = strconv.Atoi(n) // Parse has read it
	}
	return clients, providers
}

func fleetFields() []field {
	return []field{
		strictyaml.Sequence("at_most", "The most stages that run on all nodes together, of a client as CLIENT=NUMBER or of a provider as "+
			"PROVIDER=NUMBER. A provider's stages are those of all clients that use its models. A name that both have is the client's. What is not "+
			"named has no such bound.", func(c *Config) *[]string { return &c.Fleet.AtMost }, readAtMost),
		strictyaml.Scalar("results", "While so many results of nodes wait to be audited, tested or landed, no further stage is given to a node. 0: no bound.",
			func(c *Config) *int { return &c.Fleet.Results }, readResults, strconv.Itoa),
		strictyaml.Scalar("acceptance", "Where results of nodes are tested. home: on this machine. node: on a node that did not make the result, and here if "+
			"there is none. You believe that node then: it can pass a result that fails its tests.",
			func(c *Config) *TestedAt { return &c.Fleet.Acceptance }, oneOf(AtHome, OnNode), showWord),
	}
}

const maxFleet = 10000

func readAtMost(n *yaml.Node) (list []string, err error) {
	if n.Kind != yaml.SequenceNode {
		return nil, strictyaml.Fault("expected a list, not "+strictyaml.Describe(n), "write [CLIENT=NUMBER] or [PROVIDER=NUMBER]")
	}
	seen, list := map[string]bool{}, []string{}
	for _, item := range n.Content {
		text, err := strictyaml.ReadText(item)
		if err != nil {
			return nil, strictyaml.At(item, err)
		}
		name, number, _ := strings.Cut(text, "=")
		if err := checkBounded(name); err != nil {
			return nil, strictyaml.At(item, err)
		}
		v, err := strconv.Atoi(number)
		if name == "" || seen[name] || err != nil || v < 1 || v > maxFleet || strconv.Itoa(v) != number {
			return nil, strictyaml.At(item, strictyaml.Fault(quote(text)+" is not CLIENT=NUMBER or PROVIDER=NUMBER", "name each once, with a number from 1"))
		}
		seen[name] = true
		list = append(list, text)
	}
	return list, nil
}

// checkBounded accepts the name of a client or of a provider.
func checkBounded(name string) error {
	var clients, providers []string
	for _, c := range facts.All() {
		clients = append(clients, c.Name)
		if facts.Named(c.Models.Preset) == nil {
			providers = append(providers, c.Models.Preset)
		}
	}
	all := slices.Concat(clients, providers)
	if name == "" || slices.Contains(all, name) {
		return nil
	}
	hint := "the clients are " + strings.Join(clients, ", ") + "; the providers are also " + strings.Join(providers, ", ")
	if near := strictyaml.Nearest(name, all); near != "" {
		hint = "did you mean " + near + "?"
	}
	return strictyaml.Fault(quote(name)+" is neither an agent client nor a provider that cordon knows", hint)
}

func readResults(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) {
		if v, err := strconv.Atoi(n.Value); err == nil && v >= 0 && v <= maxFleet && strconv.Itoa(v) == n.Value {
			return v, nil
		}
	}
	return 0, strictyaml.Fault("expected a number, not "+strictyaml.Describe(n), "write a whole number from 0 to "+strconv.Itoa(maxFleet))
}
