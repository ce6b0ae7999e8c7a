package worksite

import (
	"context"
	"encoding/json"
	"fmt"

	"cordon/internal/audit"
	"cordon/internal/gate"
	"cordon/internal/ledger"
)

// Captured lists what the evidence of a quarantined worker keeps of its writes
// outside its tree. Older evidence keeps none.
func (s *Site) Captured(ctx context.Context, w *ledger.Worker) ([]gate.Captured, error) {
	b, err := s.Evidence(ctx, w, "manifest.json")
	if err != nil {
		return nil, err
	}
	var m gate.Manifest
	err = json.Unmarshal(b, &m)
	return m.Captured, err
}

// Report returns the recorded audit of a worker.
func (s *Site) Report(w *ledger.Worker) (*audit.Report, error) {
	if w.Audit == nil {
		return nil, fmt.Errorf("%s has not been audited yet", w.ID)
	}
	var r audit.Report
	return &r, s.Load(w.ID, "audit.json", w.Audit.Report, &r)
}

// Evidence is one file kept with a quarantined worker.
func (s *Site) Evidence(ctx context.Context, w *ledger.Worker, name string) ([]byte, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	return s.Gate.Evidence(ctx, w.ID, name)
}
