package policy

import "fmt"

// Outside says what happens to a write outside the worktree, scratch and the
// private home. Nothing reaches the host either way. Anything that is not the
// weaker word behaves as DenyOutside, the empty string included: it is what a
// lease that was sealed before there was this key says.
type Outside string

const (
	DenyOutside Outside = "deny"    // the write is refused
	Capture     Outside = "capture" // the write succeeds in a private layer, and is a violation
)

// Outsides lists the words a policy may use, strictest first.
func Outsides() []Outside { return []Outside{DenyOutside, Capture} }

// Captures reports whether a write outside is to succeed in a private layer.
func (o Outside) Captures() bool { return o == Capture }

// String gives the word, and "deny" for anything unknown.
func (o Outside) String() string {
	if o.Captures() {
		return string(Capture)
	}
	return string(DenyOutside)
}

func (o Outside) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText refuses a word it does not know.
func (o *Outside) UnmarshalText(text []byte) error {
	for _, known := range Outsides() {
		if string(text) == string(known) {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("outside %q is not deny or capture", text)
}
