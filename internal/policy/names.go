package policy

import "fmt"

// Names says which names added files may have. A lease that was sealed before there
// was this key says nothing, and then any name may land, as it could then.
type Names string

const (
	PortableNames Names = "portable" // those that Windows and macOS can have too
	AnyName       Names = "any"
)

// Portable reports whether names that Windows or macOS cannot have are refused.
func (n Names) Portable() bool { return n == PortableNames }

// String gives the word, and "any" for a lease from before there was one.
func (n Names) String() string {
	if n.Portable() {
		return string(PortableNames)
	}
	return string(AnyName)
}

func (n Names) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText refuses a word it does not know.
func (n *Names) UnmarshalText(text []byte) error {
	switch word := Names(text); word {
	case PortableNames, AnyName:
		*n = word
		return nil
	}
	return fmt.Errorf("names %q is not portable or any", text)
}

// PortableNames reports whether the policy refuses added names that Windows or macOS
// cannot have.
func (r Rules) PortableNames() bool { return r.names.Portable() }
