package ledger

import (
	"cordon/internal/fleet/trial"
	"cordon/internal/git"
	"cordon/internal/journal"
)

// The types of event of a result that a node is to test. They are those of a command on a node, of another thing: the
// session offers and withdraws, the home of the fleet grants and takes verdicts. A home withdraws a trial whose node returned
// a verdict that it refused.
const (
	TrialOffered   = "+fleet.trial.offered"   // TrialOffer: whatever was granted or returned before counts no more
	TrialGranted   = "+fleet.trial.granted"   // Grant; the number of the event is the fence
	TrialReturned  = "+fleet.trial.returned"  // Return: the verdict was taken
	TrialWithdrawn = "+fleet.trial.withdrawn" // Withdrawal: no node is to test it any more
)

// TrialOffer is the data of TrialOffered.
type TrialOffer struct {
	Commit git.OID     `json:"commit"` // has the tree, in the repository of the gate
	Order  trial.Order `json:"order"`
}

// Trial is a merged tree that a node is to test. What it points to never changes.
type Trial struct {
	Away
	Offer     TrialOffer
	Withdrawn *Withdrawal // nil: it was not
}

// trialTypes are the types of event of a trial, by those of a command.
var trialTypes = map[string]string{Offered: TrialOffered, Granted: TrialGranted, Returned: TrialReturned, Withdrawn: TrialWithdrawn}

// TrialType is the type of event of a trial for that of a command.
func TrialType(of string) string { return trialTypes[of] }

// OfTrial is the type of event of a command for that of a trial; ok is false if it is not about a trial.
func OfTrial(typ string) (of string, ok bool) {
	for command, own := range trialTypes {
		if own == typ {
			return command, true
		}
	}
	return "", false
}

func trialOffered(w *Worker, e journal.Event) error {
	w.Trial = &Trial{Away: Away{Seq: e.Seq}}
	return read(e, &w.Trial.Offer)
}

// applyTrial changes where a trial is.
func applyTrial(change func(*Away, journal.Event) error) func(*Worker, journal.Event) error {
	return func(w *Worker, e journal.Event) error {
		if w.Trial == nil || w.Trial.Withdrawn != nil {
			return nil
		}
		now := *w.Trial
		w.Trial = &now
		return change(&now.Away, e)
	}
}

func trialWithdrawn(w *Worker, e journal.Event) error {
	if w.Trial == nil {
		return nil
	}
	now := *w.Trial
	w.Trial, now.Withdrawn = &now, new(Withdrawal)
	return read(e, now.Withdrawn)
}
