package policy

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Gate is what becomes of a result that ended its run. The zero value is what the gate
// did before there were these keys: every clean result went to the gate, with one run of
// acceptance and no further attempt.
type Gate struct {
	// Land is whether a clean result lands without a person.
	Land Land `json:"land,omitempty"`
	// Retries is how often failed acceptance runs again by itself.
	Retries int `json:"retries,omitempty"`
	// As is how its commits land; "": as one commit.
	As Form `json:"as,omitempty"`
	// Attempts is how often cordon resume may start a worker again after its result was judged.
	Attempts int `json:"attempts,omitempty"`
	// Wait is how long a run waits for uncommitted changes that keep its result from landing.
	Wait Duration `json:"wait,omitempty"`
	// Absent from older leases, and then acceptance commands begin with no caches.
	Cache Caching `json:"cache,omitempty"`
}

// DefaultAttempts is written into every new lease whose policy does not say otherwise.
const DefaultAttempts = 5

const (
	maxRetries  = 10
	maxAttempts = 100
)

// readUpTo reads a whole number from 0 to most.
func readUpTo(most int) func(*yaml.Node) (int, error) {
	return func(n *yaml.Node) (int, error) {
		if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && (n.Value == "0" || isNumber(n.Value)) {
			if v, err := strconv.Atoi(n.Value); err == nil && v <= most {
				return v, nil
			}
		}
		return 0, fault{"expected a number, not " + strictyaml.Describe(n), "write a whole number from 0 to " + strconv.Itoa(most)}
	}
}

// readWait reads a duration, or none.
func readWait(n *yaml.Node) (Duration, error) {
	if n.Kind == yaml.ScalarNode && n.Value == noLimit && n.ShortTag() == "!!str" {
		return 0, nil
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return 0, fault{"expected a duration, not " + strictyaml.Describe(n), "write one whole number and one unit, such as 30m, 8h or 7d, or none"}
	}
	return ParseDuration(n.Value)
}

func showWait(d Duration) string {
	if d == 0 {
		return noLimit
	}
	return d.String()
}
