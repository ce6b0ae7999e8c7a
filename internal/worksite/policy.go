package worksite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// PolicyName is the file at the top of the base commit that holds the policy.
const PolicyName = "cordon.yaml"

// PolicyAt reads the policy of a base commit, or the default where it has none.
func (s *Site) PolicyAt(ctx context.Context, base git.OID) (policy.Policy, string, error) {
	text, ok, err := s.Host.FileAt(ctx, base, PolicyName)
	if err != nil {
		return policy.Policy{}, "", err
	}
	return readPolicyAt(base, text, ok)
}

func readPolicyAt(base git.OID, text []byte, ok bool) (policy.Policy, string, error) {
	if !ok {
		return policy.Default(), "default", nil
	}
	p, err := policy.Parse(PolicyName, text)
	return p, PolicyName + " at " + base.Short(), err
}

// PolicyInUse is PolicyAt for a run. It refuses, with an UnusedPolicyError, where the
// operator sees another policy in the checkout.
func (s *Site) PolicyInUse(ctx context.Context, base git.OID) (policy.Policy, string, error) {
	text, ok, err := s.Host.FileAt(ctx, base, PolicyName)
	if err == nil {
		err = s.refuseUnused(ctx, base, policyText{withoutReturns(text), ok})
	}
	if err != nil {
		return policy.Policy{}, "", err
	}
	return readPolicyAt(base, text, ok)
}

// DescribedPolicyAt is PolicyAt with a source for a person, who wants to know why a default
// holds.
func (s *Site) DescribedPolicyAt(ctx context.Context, base git.OID) (policy.Policy, string, error) {
	p, source, err := s.PolicyAt(ctx, base)
	if source == "default" {
		source += fmt.Sprintf(" (there is no %s at %s)", PolicyName, base.Short())
	}
	var unused *UnusedPolicyError
	if _, _, other := s.PolicyInUse(ctx, base); err == nil && errors.As(other, &unused) {
		source += "; " + unused.What
	}
	return p, source, err
}

// PolicyHere is the policy at the commit that the operator's checkout is on.
func (s *Site) PolicyHere(ctx context.Context) (policy.Policy, string, error) {
	commit, err := s.Host.HeadCommit(ctx)
	if errors.Is(err, git.ErrNoRef) {
		return policy.Default(), "default (there is no commit yet)", nil
	}
	if err != nil {
		return policy.Policy{}, "", err
	}
	return s.DescribedPolicyAt(ctx, commit)
}

// PolicyFile reads a policy that the operator named.
func (s *Site) PolicyFile(path string) (policy.Policy, string, error) {
	p, err := ReadPolicy(path, func(abs string) error { return s.RefuseWorkersFile("policy", abs) })
	return p, path, err
}

// ReadPolicy reads a policy from a file that a check accepts, by its absolute
// path.
func ReadPolicy(path string, check func(string) error) (policy.Policy, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return policy.Policy{}, err
	}
	if _, err := os.Stat(abs); err != nil {
		return policy.Policy{}, &fault.MistakeError{Err: fmt.Errorf("--policy: %w", err)}
	}
	if err := check(abs); err != nil {
		return policy.Policy{}, err
	}
	text, err := plainfile.ReadLinked(abs, plainfile.Text)
	if err != nil {
		return policy.Policy{}, &fault.MistakeError{Err: fmt.Errorf("--policy: %w", err)}
	}
	return policy.Parse(path, text)
}

// RefuseWorkersFile refuses a file that a worker could have written: in cordon's state, or
// in a worktree that was adopted. The path is absolute, and the noun says what is read.
func (s *Site) RefuseWorkersFile(noun, path string) error {
	inside, err := state.Inside(path)
	if err != nil {
		return err
	}
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, worktree := range now.Adopted() {
		inside = inside || strings.HasPrefix(real, worktree+string(filepath.Separator))
	}
	if inside {
		return fault.Refuse("%s lies where workers write: cordon never reads a %s from there", path, noun)
	}
	return nil
}
