package dispatch

import (
	"context"
	"os"
	"strings"

	"cordon/internal/deskport"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// narrow takes from the policy of a new lease what the operator's rights do not allow, and
// says so. Wherever the policy came from, the lease shows the result.
func (s maker) narrow(l *lease.Lease) error {
	loaded, err := s.Operator()
	if err != nil {
		return err
	}
	p, lost := l.Policy.Within(loaded.Bound)
	if err := refuseDesk(p); err != nil {
		return err
	}
	if len(lost) == 0 {
		return nil
	}
	s.Voice.Step(l.ID, "rights", loaded.Narrows()+" the policy: "+strings.Join(lost, "; "))
	l.Policy = p
	if !strings.HasSuffix(l.Source, NarrowedByRights) {
		l.Source += NarrowedByRights
	}
	return p.Validate()
}

// NarrowedByRights marks the source of a policy that lost something.
const NarrowedByRights = ", narrowed by your rights"

// RefuseBeyondRights refuses to run anything under a lease from before the operator narrowed
// their rights, or took back what they share. Whether a result lands without a person was decided by then.
func RefuseBeyondRights(site *worksite.Site, w *ledger.Worker) error {
	loaded, err := site.Operator()
	if err != nil {
		return err
	}
	p := w.Lease.Lease().Policy
	rights := loaded.Bound
	rights.Gate.Land, rights.Gate.Attempts = p.Gate.Land, p.Gate.Attempts
	if _, lost := p.Within(rights); len(lost) > 0 {
		return fault.Refuse("the lease of %s allows more than your configuration does now (%s): start a new run, or widen rights in your configuration",
			w.ID, strings.Join(lost, "; "))
	}
	if err := refuseDesk(p); err != nil {
		return err
	}
	return worksite.RefuseUnshared(p, w.Opens, loaded, site.Host.Dir, os.Environ())
}

// PolicyForPlan is the policy of a commit for the stages of a plan, each of which gets a part of
// it. What it opens needs the operator's consent before the first of them starts. The agent is the
// one that the operator named, if any.
func PolicyForPlan(ctx context.Context, site *worksite.Site, commit git.OID, agent string) (policy.Policy, error) {
	p, _, err := site.PolicyInUse(ctx, commit)
	if err != nil {
		return p, err
	}
	loaded, err := site.Operator()
	if err != nil {
		return p, err
	}
	within, _ := p.Within(loaded.Bound)
	p.Gate.Land = within.Gate.Land
	return p, worksite.RefuseUnshared(policy.Policy{}, opens(within, &ledger.Agent{Client: agent}), loaded, site.Host.Dir, nil)
}

// refuseDesk refuses a policy that lets a worker reach a desk that is open in the operator's
// browser. Without a cell a worker reaches it anyway: then the desk decides nothing.
func refuseDesk(p policy.Policy) error {
	if p.Isolation == policy.None {
		return nil
	}
	if err := deskport.Refusal(p.Network); err != nil {
		return &fault.RefusedError{Err: err}
	}
	return nil
}
