package policy

import "fmt"

// Caching says whether a run finds the caches of landed runs. Anything that is not the
// weaker word means that it does not, the empty string included: it is what a lease says
// that was sealed before there was this word.
type Caching string

const (
	NoCaches     Caching = "none"   // every run begins with the host's caches alone
	LandedCaches Caching = "landed" // runs find what landed runs of the same kind left
)

// Cachings lists the words a policy may use, strictest first.
func Cachings() []Caching { return []Caching{NoCaches, LandedCaches} }

// Landed reports whether caches of landed runs are shared.
func (c Caching) Landed() bool { return c == LandedCaches }

// String gives the word, and "none" for anything unknown.
func (c Caching) String() string {
	if c.Landed() {
		return string(LandedCaches)
	}
	return string(NoCaches)
}

func (c Caching) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText refuses a word it does not know.
func (c *Caching) UnmarshalText(text []byte) error {
	for _, known := range Cachings() {
		if string(text) == string(known) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("cache %q is not none or landed", text)
}
