package policy

import "fmt"

// Form is how the commits of a worker land. The empty string is that of older leases,
// and means one commit.
type Form string

const (
	Squash  Form = "squash"  // one commit
	History Form = "history" // the worker's own commits, and a merge
	Rebase  Form = "rebase"  // the worker's own commits, replayed in a line
)

// String gives the word, and "squash" for a lease from before there was one.
func (f Form) String() string {
	if f == "" {
		return string(Squash)
	}
	return string(f)
}

func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText refuses a word it does not know.
func (f *Form) UnmarshalText(text []byte) error {
	switch word := Form(text); word {
	case Squash, History, Rebase:
		*f = word
		return nil
	}
	return fmt.Errorf("as %q is not squash, history or rebase", text)
}
