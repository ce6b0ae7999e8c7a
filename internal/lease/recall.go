package lease

import (
	"bytes"
	"fmt"

	"cordon/internal/policy"
)

// Recall is Open for those who cannot wait: a hook is started for every tool call
// and asks for the rules once. It checks the hash, reads the bytes as strictly,
// holds the terms to the same checks and compiles the rules. It leaves out what
// takes nine tenths of Open's time: to write the policy as YAML and parse that, and
// to encode the lease again.
//
// That is sound because of where bytes and hash come from. Seal and Open do both
// before they let a lease out, and only what they let out is recorded; so bytes
// that have a recorded hash were found valid and canonical, unless somebody made
// others with the same SHA-256. The hash must therefore come from where no worker
// can write, which Open needs as well: who can choose the bytes and the hash can
// have any lease. And what is not checked again (secrets, hosts, names, limits,
// commands) is nothing that rules are made from: a pattern that cannot mean what
// it says is refused by compiling it, and an unknown word by reading it.
//
// Whether the lease has run out is for the caller to ask, as after Open.
func Recall(b []byte, hash string) (Sealed, error) {
	l, _, err := decode(b, hash)
	if err != nil {
		return Sealed{}, err
	}
	if l.Policy.Version != policy.Version {
		return Sealed{}, fmt.Errorf("lease %s: its policy is of version %d, not %d", l.ID, l.Policy.Version, policy.Version)
	}
	if err := l.check(); err != nil {
		return Sealed{}, err
	}
	rules, err := l.compile()
	if err != nil {
		return Sealed{}, err
	}
	return Sealed{lease: l, bytes: bytes.Clone(b), hash: hash, rules: rules}, nil
}
