package session

import (
	"context"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/wording"
)

// mergeInside lands only those changes of a worker that are inside its lease, and leaves the
// others in quarantine's evidence. The reduced tree is judged and tested like any other.
func (s *Session) mergeInside(ctx context.Context, w *ledger.Worker, how Drive) (*ledger.Worker, error) {
	how.Inside = false
	status, err := s.Status(ctx, w)
	if err != nil {
		return nil, err
	}
	if status != ledger.InQuarantine {
		if w, err = s.Merge(ctx, w, how); err != nil {
			return w, err
		}
		if w.Quarantine == nil || w.Release != nil {
			return w, nil
		}
	}
	found := s.WrongWith(w)
	if !inLease(found) {
		return nil, fault.Refuse("more is wrong with %s than changes outside its lease, and landing the others would waive it:\n%s", w.ID, describeWrongs(found, nil))
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
	data := ledger.Release{
		Lease: sealed.Bytes(), Hash: sealed.Hash(), Who: how.Who, Why: "land only what is inside the lease", LeaveBehind: true, Inside: true,
		Waives: []ledger.Cause{ledger.BrokeLease, ledger.WroteOutside},
	}
	if err := s.Decide(ctx, w.ID, ledger.Released, data, false, stillQuarantined(w)); err != nil {
		return nil, err
	}
	return s.Continue(ctx, w.ID, how)
}

// judgeInside takes the part of a stored result that may land through the gate, after it has
// judged that part as a tree of its own.
func (s *Session) judgeInside(ctx context.Context, w *ledger.Worker, how *progress, found []audit.Finding) (gate.Result, error) {
	l := w.Lease.Lease()
	reduced, err := s.Gate.Inside(ctx, w.ID, l.Base, found)
	if err != nil {
		return gate.Result{}, err
	}
	res := gate.Result{Outcome: gate.Violating, Target: l.Target}
	again, err := audit.Merged(ctx, s.Gate.Repo(), l.Base, reduced, w.Lease.Rules())
	if err != nil {
		return gate.Result{}, err
	}
	for _, f := range again {
		if f.Class != audit.Landing {
			res.Findings = append(res.Findings, f)
		}
	}
	if len(res.Findings) > 0 {
		return res, nil
	}
	var left []string
	_, out := gate.Parts(found)
	for _, f := range out {
		left = append(left, f.Path.String())
	}
	s.Voice.Step(w.ID, "left out", strings.Join(left[:min(len(left), 5)], ", "))
	text, err := s.landingMessage(ctx, w, how, again, wording.StoredHistory(s.Site, w))
	if err != nil {
		return gate.Result{}, err
	}
	return s.acceptAndLand(ctx, w, gate.Order{Snapshot: reduced, Message: text}, how.Output)
}

// waivedLines say what a release waives.
func waivedLines(found []Wrong, waived []ledger.Cause) (lines []string) {
	for _, x := range found {
		for _, c := range waived {
			if c == x.Cause {
				lines = append(lines, x.Lines...)
			}
		}
	}
	return lines
}
