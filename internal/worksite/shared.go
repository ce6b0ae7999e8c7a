package worksite

import (
	"strings"

	"cordon/internal/config"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/policy"
)

// Shared is what of the operator's own goes into the cells of this repository.
func (s *Site) Shared() (config.Shared, error) {
	loaded, err := s.Operator()
	if err != nil {
		return nil, err
	}
	return loaded.Share.With(RealPath(s.Host.Dir)), nil
}

// RefuseUnshared refuses a policy that gives variables of the operator's to workers of a
// repository without their consent. Variables that are not set are not given.
func RefuseUnshared(p policy.Policy, shared config.Shared, operator []string) error {
	var names, words []string
	for _, name := range enclosure.NeedConsent(p, operator) {
		if word := config.Secret(name); !shared.Has(word) {
			names, words = append(names, name), append(words, word)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return Unshared("secrets: the policy gives "+strings.Join(names, ", ")+" of your environment to workers", words)
}

// Unshared refuses something of the operator's that nobody agreed to give to this
// repository, and says what to type.
func Unshared(what string, words []string) error {
	return fault.Refuse("%s, and you have not agreed to that for this repository: cordon config share %s", what, strings.Join(words, " "))
}
