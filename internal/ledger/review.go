package ledger

import (
	"time"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/plan"
)

// Proposal is the data of Proposed: a result that passed its checks on the merged tree, as a
// reviewer is to see it.
type Proposal struct {
	Commit git.OID      `json:"commit"` // what would land
	Onto   git.OID      `json:"onto"`   // the target as it was then
	Digest string       `json:"digest"` // of the audit: an opinion is about this content and no other
	Checks []gate.Check `json:"checks,omitempty"`
}

// ResultOf names a result: a worker, which of its attempts, and the digest of what it left.
type ResultOf struct {
	Worker  string `json:"worker"`
	Attempt int    `json:"attempt,omitempty"` // after the first
	Digest  string `json:"digest"`
}

// Opinion is the data of ReviewGiven. Worker is the reviewer, whose opinion is evidence; "": a
// person.
type Opinion struct {
	Plan    string       `json:"plan"`
	Run     int          `json:"run"`
	Stage   string       `json:"stage"`
	Of      ResultOf     `json:"of"`
	Verdict plan.Verdict `json:"verdict"`
	Text    string       `json:"text,omitempty"`
	Who     string       `json:"who"`
	Worker  string       `json:"worker,omitempty"`
	At      time.Time    `json:"-"`
}

// Result names the result of a worker that is to be reviewed. Without one, it has no digest.
func (w *Worker) Result() ResultOf {
	r := ResultOf{Worker: string(w.ID), Attempt: w.Attempts}
	if w.Proposal != nil {
		r.Digest = w.Proposal.Digest
	}
	return r
}

// Proposes reports whether a worker's last result is still this one.
func (w *Worker) Proposes(r ResultOf) bool { return w.Proposal != nil && w.Result() == r }
