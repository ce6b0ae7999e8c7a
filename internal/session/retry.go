package session

import (
	"context"
	"slices"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/ledger"
)

// Retry runs acceptance of a quarantined result again and nothing else: the stored result
// is merged with the target as it is now, held against the same rights and tested. It is
// for a result whose only fault is failed acceptance; it waives nothing.
func (s *Session) Retry(ctx context.Context, w *ledger.Worker, who string, how Drive) (*ledger.Worker, error) {
	status, err := s.Status(ctx, w)
	if err != nil {
		return nil, err
	}
	if status != ledger.InQuarantine {
		return nil, fault.Refuse("%s is %s: only a result that was quarantined for failed acceptance can be tested again", w.ID, status)
	}
	found := s.WrongWith(w)
	if kinds := causes(found); !slices.Equal(kinds, []ledger.Cause{ledger.FailedAcceptance}) {
		return nil, fault.Refuse("%s is not quarantined for failed acceptance alone (%s): acceptance cannot change that", w.ID,
			strings.Join(others(found, ledger.FailedAcceptance), "; "))
	}
	sealed, err := s.amendedLease(ctx, w, Amendment{Policy: w.Lease.Lease().Policy, Source: w.Lease.Lease().Source})
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	if err := s.VerifyAll(); err != nil {
		return nil, err
	}
	data := ledger.Release{Lease: sealed.Bytes(), Hash: sealed.Hash(), Who: who, Why: "run acceptance again", Retry: true}
	if err := s.Decide(ctx, w.ID, ledger.Released, data, false, stillQuarantined(w)); err != nil {
		return nil, err
	}
	return s.Continue(ctx, w.ID, how)
}

// others are the first words of every kind of fault but one.
func others(found []Wrong, but ledger.Cause) (list []string) {
	for _, x := range found {
		if x.Cause != but {
			list = append(list, x.Lines[0])
		}
	}
	return list
}
