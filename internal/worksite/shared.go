package worksite

import (
	"strings"

	"cordon/internal/config"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// Shared is what of the operator's own goes into the cells of this repository.
func (s *Site) Shared() (config.Shared, error) {
	loaded, err := s.Operator()
	if err != nil {
		return nil, err
	}
	return SharedWith(loaded, s.Host.Dir), nil
}

// SharedWith is what goes into the cells of the repository with a git directory: nothing
// where another repository was there when the operator agreed.
func SharedWith(loaded config.Loaded, common string) config.Shared {
	shared := loaded.Share.With(RealPath(common))
	if len(shared) > 0 && state.Replaced(RealPath(common)) {
		return nil
	}
	return shared
}

// ChangeShared shares words with the repository with a git directory, or stops that. What
// was shared with another repository in its place before is not shared with this one.
func ChangeShared(loaded config.Loaded, common string, words []string, stop bool) (file string, now []string, err error) {
	common = RealPath(common)
	change := config.Change{Repository: config.ShareKey(common), Add: words}
	if stop {
		change.Add, change.Remove = nil, words
	}
	if state.Replaced(common) {
		for _, written := range []string{common, change.Repository} {
			old := config.Change{Repository: written, Remove: loaded.Share[written]}
			if _, _, err := config.WriteShare(old); err != nil {
				return "", nil, err
			}
		}
	}
	if file, now, err = config.WriteShare(change); err != nil {
		return file, now, err
	}
	return file, now, state.Agree(common)
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
