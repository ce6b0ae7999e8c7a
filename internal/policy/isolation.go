package policy

import "fmt"

// Isolation says what happens when a layer of the cell cannot be proven live.
// Anything that is not one of the two weaker words behaves as Strict, the empty
// string included.
type Isolation string

const (
	Strict   Isolation = "strict"   // a missing layer is fatal
	Degraded Isolation = "degraded" // run although a layer is missing; each is named
	None     Isolation = "none"     // unconfined
)

// Isolations lists the words a policy may use, strictest first.
func Isolations() []Isolation { return []Isolation{Strict, Degraded, None} }

// IsStrict reports whether a missing layer must stop the run.
func (i Isolation) IsStrict() bool { return i != Degraded && i != None }

// String gives the word, and "strict" for anything unknown.
func (i Isolation) String() string {
	if i.IsStrict() {
		return string(Strict)
	}
	return string(i)
}

func (i Isolation) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText refuses a word it does not know.
func (i *Isolation) UnmarshalText(text []byte) error {
	for _, known := range Isolations() {
		if string(text) == string(known) {
			*i = known
			return nil
		}
	}
	return fmt.Errorf("isolation %q is not strict, degraded or none", text)
}
