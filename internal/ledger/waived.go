package ledger

import "slices"

// waives are the kinds of fault that a release is the operator's word over.
func (r Release) waives() []Cause {
	if r.Waives == nil && !r.Retry { // an older version's
		return []Cause{BrokeLease, WroteOutside, ChangedHost, UnprovenGuard, NotJudged}
	}
	return r.Waives
}

// Waives reports whether the operator has waived a kind of fault of this result.
func (w *Worker) Waives(c Cause) bool { return slices.Contains(w.Waived, c) }
