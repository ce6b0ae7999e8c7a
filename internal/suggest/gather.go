package suggest

import (
	"context"
	"path"

	"cordon/internal/egress/record"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// Gather reads what is known of one run. A record that is gone, because gc removed it, is
// as if nothing had been recorded.
func Gather(ctx context.Context, s *worksite.Site, w *ledger.Worker) (Run, error) {
	r := Run{ID: string(w.ID), Quarantined: w.Quarantine != nil, Tracked: map[string]bool{}}
	var setup, rest []record.Record
	if _, err := s.Reached(w, func(one record.Record) {
		if w.Start == nil || one.Time.Before(w.StartTime) {
			setup = append(setup, one)
		} else {
			rest = append(rest, one)
		}
	}); err != nil {
		return r, err
	}
	r.Setup, r.Worker = record.Sum(setup), record.Sum(rest)
	reads, err := s.RefusedReads(w)
	if err != nil {
		return r, err
	}
	r.Reads = reads
	if w.Audit == nil {
		return r, nil
	}
	report, err := s.Report(w)
	if err != nil {
		return r, nil // it is gone
	}
	r.Findings = report.Findings
	files, err := s.Host.Tree(ctx, w.Lease.Lease().Base)
	if err != nil {
		return r, nil // the base commit is gone
	}
	for _, f := range files {
		for p := f.Path; p != "." && !r.Tracked[p]; p = path.Dir(p) {
			r.Tracked[p] = true
		}
	}
	return r, nil
}
