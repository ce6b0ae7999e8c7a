package ledger

import (
	"encoding/json"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
)

// Attempt is the data of Attempted: a worker whose result was judged begins anew, with the
// same rights, in a fresh tree. What was known of its earlier attempt is in the evidence.
type Attempt struct {
	Lease     json.RawMessage `json:"lease"`
	Hash      string          `json:"hash"`
	Who       string          `json:"who"`
	Origin    git.OID         `json:"origin"`              // the base of the lease, without what was carried over
	Command   []string        `json:"command,omitempty"`   // instead of the one before
	Feedback  string          `json:"feedback"`            // what the worker is told
	Inherited []Doubt         `json:"inherited,omitempty"` // what stays wrong, however clean the next attempt is
	Message   string          `json:"+message,omitempty"`  // how the worker described what it has done so far
	Review    bool            `json:"+review,omitempty"`   // nothing was wrong but in the eyes of a reviewer
	// Conflicts are the files of the tree in which both sides stand, or the wrong one.
	Conflicts []audit.Path `json:"+conflicts,omitempty"`
}

// Doubt is a fault of an earlier attempt that a later one does not remove.
type Doubt struct {
	Cause Cause  `json:"cause"`
	Line  string `json:"line"`
}

// attempted begins another attempt of a worker.
func attempted(w *Worker, e journal.Event) error {
	var d Attempt
	if err := read(e, &d); err != nil {
		return err
	}
	sealed, err := lease.Open(d.Lease, d.Hash)
	if err != nil {
		return err
	}
	w.Doubts = append(w.Doubts, w.launchDoubts()...)
	w.Lease, w.Origin, w.Conflicts, w.Feedback, w.Inherited, w.Earlier = sealed, d.Origin, d.Conflicts, d.Feedback, d.Inherited, d.Message
	if len(d.Command) > 0 {
		w.Command = d.Command
	}
	if w.Attempts++; d.Review {
		w.Amended++
	}
	w.Tree, w.Start, w.Exit, w.Audit, w.Intent, w.Gate = nil, nil, nil, nil, nil, nil
	w.Quarantine, w.Release, w.Waived, w.Rejections, w.Visits = nil, nil, nil, 0, 0
	w.Stream, w.Claim, w.Private, w.Proposal, w.Away, w.Trial = nil, nil, nil, nil, nil, nil
	return nil
}
