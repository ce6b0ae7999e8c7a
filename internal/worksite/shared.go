package worksite

import (
	"errors"
	"os"
	"slices"
	"strings"

	"cordon/internal/config"
	"cordon/internal/consent"
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

// RefuseUnshared refuses a policy for what the operator has not agreed to for a repository:
// variables of theirs (those that are not set are not given), and what the policy opens by
// itself, as words of package consent. They agree with cordon config share, or for every
// repository with the rights of their configuration.
func RefuseUnshared(p policy.Policy, opens []string, loaded config.Loaded, common string, operator []string) error {
	shared := SharedWith(loaded, common)
	var names, words, says []string
	for _, name := range enclosure.NeedConsent(p, operator) {
		if word := config.Secret(name); !shared.Has(word) {
			names, words = append(names, name), append(words, word)
		}
	}
	if len(names) > 0 {
		says = append(says, "gives "+strings.Join(names, ", ")+" of your environment to workers (secrets)")
	}
	if missing := consent.Missing(opens, slices.Concat(shared, loaded.Grants())); len(missing) > 0 {
		says, words = append(says, consent.Describe(missing)), append(words, missing...)
	}
	if len(words) == 0 {
		return nil
	}
	return Unshared("the policy "+strings.Join(says, "; "), words)
}

// LacksConsent says why a run with a policy of this repository would be refused for want of the
// operator's consent; "" if it would not.
func (s *Site) LacksConsent(p policy.Policy) (string, error) {
	loaded, err := s.Operator()
	if err != nil {
		return "", err
	}
	p, _ = p.Within(loaded.Bound)
	var missing *UnsharedError
	if errors.As(RefuseUnshared(p, consent.Needed(p), loaded, s.Host.Dir, os.Environ()), &missing) {
		return missing.Error(), nil
	}
	return "", nil
}

// UnsharedError says what the operator has not agreed to for a repository.
type UnsharedError struct {
	What  string
	Words []string // with which they would, for cordon config share
}

func (e *UnsharedError) Error() string {
	return e.What + ", and you have not agreed to that for this repository: " + ShareLine(e.Words)
}

// ShareLine is what to type to agree to words.
func ShareLine(words []string) string {
	line := "cordon config share"
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plainInShells, r) }) {
			word = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
		}
		line += " " + word
	}
	return line
}

const plainInShells = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/@,+%="

// Unshared refuses something of the operator's that nobody agreed to give to this
// repository, and says what to type.
func Unshared(what string, words []string) error {
	return &fault.RefusedError{Err: &UnsharedError{what, words}}
}

// Agree records the operator's consent for this repository.
func (s *Site) Agree(words []string) error {
	loaded, err := s.Operator()
	if err != nil {
		return err
	}
	s.operator = nil // it is read again
	_, _, err = ChangeShared(loaded, s.Host.Dir, words, false)
	return err
}
