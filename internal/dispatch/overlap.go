package dispatch

import (
	"context"
	"slices"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// worthSaying picks the overlaps that a person is told of: with workers that run or whose
// result may still land as it is, and not where one of the two may write everything anyway.
func worthSaying(sealed lease.Sealed) func(*ledger.Worker, ledger.Status) bool {
	everywhere := func(l lease.Sealed) bool { return slices.Equal(l.Rules().Roots(), []string{"."}) }
	return func(w *ledger.Worker, status ledger.Status) bool {
		switch status {
		case ledger.Failed, ledger.Lost, ledger.Stopped:
			return false
		}
		return !everywhere(sealed) && !everywhere(w.Lease)
	}
}

// overlaps lists the wanted live workers whose write_roots may intersect.
func (s maker) overlaps(ctx context.Context, now *ledger.Ledger, sealed lease.Sealed,
	wanted func(*ledger.Worker, ledger.Status) bool) ([]string, error) {
	all, err := s.Standings(ctx, now.Workers)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range now.Workers {
		if status := all[w.ID].Status; !status.Live() || !wanted(w, status) || w.Removal != nil || w.Lease.Lease().Target != sealed.Lease().Target {
			continue
		}
		if len(policy.Overlap(sealed.Rules().Roots(), w.Lease.Rules().Roots())) > 0 {
			names = append(names, string(w.ID))
		}
	}
	return names, nil
}
