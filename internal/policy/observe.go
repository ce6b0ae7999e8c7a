package policy

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Observe says whether it is recorded what a command without network tries to reach. It
// opens nothing. The zero value is that of leases from before workers were observed unasked.
type Observe int8

// Whose attempts are recorded. A lease holds no ObserveWorkers: Expanded replaces it.
const (
	Unobserved     Observe = iota // nobody's
	Observed                      // everybody's
	ObserveWorkers                // those of a worker, and not those of cordon exec, whose start it would delay
)

// String gives the word.
func (o Observe) String() string {
	if o == ObserveWorkers {
		return auto
	}
	return strconv.FormatBool(o == Observed)
}

// MarshalJSON is a truth value in every lease.
func (o Observe) MarshalJSON() ([]byte, error) {
	if o == ObserveWorkers {
		return []byte(strconv.Quote(auto)), nil
	}
	return []byte(o.String()), nil
}

// UnmarshalJSON refuses what it does not know.
func (o *Observe) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "false":
		*o = Unobserved
	case "true":
		*o = Observed
	case strconv.Quote(auto):
		*o = ObserveWorkers
	default:
		return fmt.Errorf("observe %s is not true, false or %q", text, auto)
	}
	return nil
}

func readObserve(n *yaml.Node) (Observe, error) {
	if n.Kind == yaml.ScalarNode && n.Value == auto && n.ShortTag() == "!!str" {
		return ObserveWorkers, nil
	}
	on, err := strictyaml.ReadBool(n)
	switch {
	case err != nil:
		return Unobserved, fault{"expected auto, true or false, not " + strictyaml.Describe(n), ""}
	case on:
		return Observed, nil
	}
	return Unobserved, nil
}
