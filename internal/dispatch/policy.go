package dispatch

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/consent"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// policyFor gives a lease its policy, for its agent and within the rights.
func (s maker) policyFor(ctx context.Context, d *Request, l *lease.Lease) (err error) {
	if d.Policy != nil {
		l.Policy, l.Source = *d.Policy, d.Source
	} else if l.Policy, l.Source, err = s.PolicyInUse(ctx, l.Base); err != nil {
		return err
	}
	if err := forAgent(d.Agent, l); err != nil {
		return err
	}
	if d.Write != nil {
		if l.Policy, err = WithWriteRoots(l.Policy, d.Write); err != nil {
			return err
		}
		l.Source += " with --write"
	}
	if d.MaxWrite != nil {
		kept := policy.MeetRoots(l.Policy.Filesystem.WriteRoots, d.MaxWrite)
		if len(kept) == 0 {
			return fault.Refuse("nothing that the policy lets a worker write (%s) lies in --max-write (%s)",
				strings.Join(l.Policy.Filesystem.WriteRoots, ", "), strings.Join(d.MaxWrite, ", "))
		}
		if l.Policy, err = WithWriteRoots(l.Policy, kept); err != nil {
			return err
		}
		l.Source += " with --max-write"
	}
	named := l.Policy.Limits.Memory > 0 // neither auto nor none
	if l.Policy.Limits, err = worksite.LimitsAt(l.Policy.Limits, s.State.Path()); err != nil {
		return err
	}
	if err := s.narrow(l); err != nil {
		return err
	}
	if named {
		d.memory = int64(l.Policy.Limits.Memory)
	}
	return s.consented(ctx, d, l)
}

// consented refuses what a policy that the operator did not name opens without their consent.
// The models of the client that they named need none. It says what the policy opens beyond
// that of the branch with which the operator will compare it.
func (s maker) consented(ctx context.Context, d *Request, l *lease.Lease) error {
	loaded, err := s.Operator()
	if err != nil {
		return err
	}
	if !d.Named {
		d.opens = opens(l.Policy, d.Agent)
	}
	if err := worksite.RefuseUnshared(l.Policy, d.opens, loaded, s.Host.Dir, os.Environ()); err != nil || len(d.opens) == 0 {
		return err
	}
	usual, where, err := s.usualPolicy(ctx, l)
	if err != nil {
		return err
	}
	if usual.Isolation == policy.None {
		return nil // that opens everything
	}
	if more := consent.Missing(d.opens, consent.Needed(usual)); len(more) > 0 && where != "" {
		s.Voice.Step(l.ID, "policy", "the policy of "+l.Base.Short()+" opens more than that of "+where+": it "+consent.Describe(more))
	}
	return nil
}

// opens lists what a policy of the repository opens, apart from the models of a client that the
// operator named.
func opens(p policy.Policy, a *ledger.Agent) []string {
	if a == nil {
		return consent.Needed(p)
	}
	known, err := clients.Of(client.Name(a.Client))
	if err != nil || known.Preset == "" {
		return consent.Needed(p)
	}
	return consent.Missing(consent.Needed(p), []string{consent.Domain(known.Preset)})
}

// usualPolicy is the policy with which that of a lease's base is compared: that of the target,
// or where the base is the target's tip, that of the branch that the origin checks out first.
// A policy there that cannot be read opens nothing.
func (s maker) usualPolicy(ctx context.Context, l *lease.Lease) (usual policy.Policy, where string, err error) {
	for _, ref := range []string{l.Target, "refs/remotes/origin/HEAD"} {
		commit, err := s.Host.Commit(ctx, ref)
		if err != nil || commit == l.Base {
			continue // there is no such branch, or nothing to compare
		}
		if usual, _, err = s.PolicyAt(ctx, commit); err != nil {
			usual = policy.Default()
		}
		return usual, strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/"), ctx.Err()
	}
	return policy.Policy{}, "", ctx.Err()
}

// forAgent opens what a client needs to reach its own models: whoever names the client
// wants it to work. A client that is pointed at another address needs that in the
// policy.
func forAgent(a *ledger.Agent, l *lease.Lease) error {
	if a == nil {
		return nil
	}
	known, err := clients.Of(client.Name(a.Client))
	if err != nil {
		return &fault.MistakeError{Err: err}
	}
	n := &l.Policy.Network
	elsewhere := slices.ContainsFunc(known.Addresses, func(name string) bool { return os.Getenv(name) != "" })
	if known.Preset == "" || elsewhere || l.Policy.Isolation == policy.None || slices.Contains(n.AllowedDomains, known.Preset) {
		return nil
	}
	n.AllowedDomains = append(slices.Clone(n.AllowedDomains), known.Preset)
	l.Source += " with " + known.Preset
	return l.Policy.Validate()
}

// WithWriteRoots replaces the write_roots of a policy, checked as if they had
// been written there.
func WithWriteRoots(p policy.Policy, roots []string) (policy.Policy, error) {
	p.Filesystem.WriteRoots = roots
	p, err := policy.Parse("--write", p.YAML())
	var bad *policy.Error
	if errors.As(err, &bad) {
		return p, fault.Refuse("--write: %s", bad.Problem) // the position is in a text that nobody wrote
	}
	return p, err
}
