package policy

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Land says whether a result lands without a person. The empty string is that of
// older leases, and lands.
type Land string

const (
	LandAuto   Land = "auto"   // when it passes the audit and the acceptance commands
	LandReview Land = "review" // when a person has seen it and types cordon merge
)

// Review reports whether a person decides about each result.
func (l Land) Review() bool { return l != LandAuto && l != "" }

// String gives the word, and "auto" for a lease from before there was one.
func (l Land) String() string {
	if l.Review() {
		return string(LandReview)
	}
	return string(LandAuto)
}

func (l Land) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText refuses a word it does not know.
func (l *Land) UnmarshalText(text []byte) error {
	switch word := Land(text); word {
	case LandAuto, LandReview:
		*l = word
		return nil
	}
	return fmt.Errorf("land %q is not auto or review", text)
}

// landFor is what a policy means that does not say: only tested results land by
// themselves.
func landFor(acceptance []string) Land {
	if len(acceptance) > 0 {
		return LandAuto
	}
	return LandReview
}

func readLand(n *yaml.Node) (Land, error) {
	var l Land
	if n.Kind != yaml.ScalarNode || l.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected auto or review, not " + strictyaml.Describe(n), ""}
	}
	return l, nil
}
