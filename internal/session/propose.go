package session

import (
	"context"
	"fmt"

	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// toPropose reports whether a clean result is to be reviewed and nobody was shown it yet, or
// whether it is not the one that was approved. The operator's own word needs no review.
func (s *Session) toPropose(w *ledger.Worker, how *progress) bool {
	if !w.AwaitsReview() || w.Stage == nil {
		return false
	}
	if how.Judge {
		return how.Reviewed != "" && how.Reviewed != w.Audit.Digest && !how.proposed
	}
	return w.Proposal == nil || w.Proposal.Digest != w.Audit.Digest
}

// propose tests a result on the merged tree, and keeps it for a review instead of landing it.
// One that does not pass is judged like any other.
func (s *Session) propose(ctx context.Context, w *ledger.Worker, how *progress) error {
	how.proposed, how.Judge = true, false // it lands after the next review
	report, err := s.Report(w)
	if err != nil {
		return err
	}
	s.Voice.Step(w.ID, "review", "testing the result before it is reviewed")
	onto, res, err := s.tryLanding(ctx, w, how, report)
	if err != nil || res.Outcome != "" {
		return s.recordAnswer(ctx, w, how, res, err)
	}
	s.Voice.Step(w.ID, "review", fmt.Sprintf("%s passed; the result waits for its review", worksite.Count(len(res.Checks), "command")))
	data := ledger.Proposal{Commit: res.Commit, Onto: onto, Digest: w.Audit.Digest, Checks: res.Checks}
	return s.AppendIf(w.ID, ledger.Proposed, data, unchanged(w))
}
