package dispatch

import (
	"os"
	"strings"

	"cordon/internal/deskport"
	"cordon/internal/fault"
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
	p, lost := l.Policy.Within(loaded.Rights)
	if err := refuseDesk(p); err != nil {
		return err
	}
	if len(lost) == 0 {
		return nil
	}
	s.Voice.Step(l.ID, "rights", "your configuration narrows the policy: "+strings.Join(lost, "; "))
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
	rights := loaded.Rights
	rights.Gate.Land, rights.Gate.Attempts = p.Gate.Land, p.Gate.Attempts
	if _, lost := p.Within(rights); len(lost) > 0 {
		return fault.Refuse("the lease of %s allows more than your configuration does now (%s): start a new run, or widen rights in your configuration",
			w.ID, strings.Join(lost, "; "))
	}
	if err := refuseDesk(p); err != nil {
		return err
	}
	shared, err := site.Shared()
	if err != nil {
		return err
	}
	return worksite.RefuseUnshared(p, shared, os.Environ())
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
