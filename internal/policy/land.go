package policy

import (
	"fmt"
	"slices"
)

// Land says whether a result lands without a person. The empty string is that of
// older leases, and lands.
type Land string

const (
	LandAuto    Land = "auto"    // when it passes the audit and the acceptance commands
	LandCareful Land = "careful" // the same, unless it changes what checks it: then when a person says so
	LandReview  Land = "review"  // when a person has seen it and types cordon merge
)

// Lands are all the words, the strictest first.
func Lands() []Land { return []Land{LandReview, LandCareful, LandAuto} }

// Review reports whether a person decides about each result.
func (l Land) Review() bool { return l.String() == string(LandReview) }

// String gives the word, and "auto" for a lease from before there was one. A word that nobody knows is the strictest.
func (l Land) String() string {
	switch {
	case l == "":
		return string(LandAuto)
	case !slices.Contains(Lands(), l):
		return string(LandReview)
	}
	return string(l)
}

func (l Land) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText refuses a word it does not know.
func (l *Land) UnmarshalText(text []byte) error {
	if !slices.Contains(Lands(), Land(text)) {
		return fmt.Errorf("land %q is not auto, careful or review", text)
	}
	*l = Land(text)
	return nil
}

// landFor is what a policy means that does not say: only tested results land by
// themselves, and only as long as they leave alone what tests them.
func landFor(acceptance []string) Land {
	if len(acceptance) > 0 {
		return LandCareful
	}
	return LandReview
}
