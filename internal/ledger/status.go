package ledger

import (
	"cordon/internal/audit"
	"cordon/internal/checkfile"
	"cordon/internal/gate"
	"cordon/internal/policy"
)

// Status is one word about a worker.
type Status string

// The words.
const (
	Leasing      Status = "leased"      // nothing is made yet
	Ready        Status = "ready"       // the tree is there, the command has not run
	Running      Status = "running"     //
	Lost         Status = "lost"        // it was running when cordon or the machine died
	Stopped      Status = "interrupted" // by a person
	Failed       Status = "failed"      // the command itself
	Asking       Status = "asks"        // it ended with a question that nobody has answered
	Finished     Status = "finished"    // waits for the gate
	InReview     Status = "review"      // clean; a person decides whether it goes to the gate
	Gating       Status = "at the gate" //
	MergedIn     Status = "merged"
	NoChange     Status = "no change"
	Conflicted   Status = "conflict"
	WaitingFor   Status = "waiting" // accepted; the operator's checkout is in the way
	InQuarantine Status = "quarantined"
	ThrownAway   Status = "discarded"
)

// Statuses are all the words, in the order in which a worker may come to them.
func Statuses() []Status {
	return []Status{
		Leasing, Ready, Running, Lost, Stopped, Failed, Asking, Finished, InReview, Gating, MergedIn, NoChange, Conflicted, WaitingFor, InQuarantine, ThrownAway,
	}
}

// Facts are what the journal cannot know.
type Facts struct {
	Held     bool // a cordon process is at work on it
	Ancestor bool // its result is in the target branch
}

// Status derives the word from events and facts.
func (w *Worker) Status(f Facts) Status {
	switch {
	case w.Discard != nil:
		return ThrownAway
	case f.Ancestor:
		return MergedIn
	case w.Quarantine != nil && w.Release == nil:
		return InQuarantine
	case w.Tree == nil:
		return Leasing
	case w.RunsAway() && f.Held:
		return Running
	case w.Start == nil:
		return Ready
	case w.Exit == nil && f.Held:
		return Running
	case w.Exit == nil:
		return Lost
	case f.Held && (w.Wait == nil || w.Gate == nil):
		return Gating
	case w.Gate != nil:
		return gated[w.Gate.Outcome]
	case w.Interrupted():
		return Stopped
	case !w.Exit.OK():
		return Failed
	case w.Asks():
		return Asking
	case w.AwaitsReview():
		return InReview
	}
	return Finished
}

// Interrupted reports whether a person ended the command, a signal to cordon, or the budget of its stage.
func (w *Worker) Interrupted() bool { return w.Exit != nil && w.Exit.Stopped() }

// Merged reports whether its newest landing succeeded.
func (w *Worker) Merged() bool { return w.Gate != nil && w.Gate.Outcome == gate.Merged }

// AwaitsReview reports whether a clean result goes to the gate only when a person says
// so, or a reviewer in a plan. A worker that changed nothing leaves nothing to review.
func (w *Worker) AwaitsReview() bool {
	if w.Audit == nil || w.Audit.Verdict != audit.VerdictClean || w.Audit.Summary.Landing == 0 && (w.Audit.Whole || w.Origin == "") {
		return false
	}
	return w.Stage != nil && w.Stage.Review || w.ForPerson() != ""
}

// ForPerson says why a result lands only when a person says so, at the end of a sentence about it; "": no person has to.
// A reviewer in a plan is no person. With --no-merge nothing asks for a landing.
func (w *Worker) ForPerson() string {
	land := w.Lease.Lease().Policy.Gate.Land
	switch o := w.Options; {
	case o.Merge || o.NoMerge:
		return ""
	case o.Review && o.Interactive, w.Attended:
		return "because a person was at its terminal"
	case o.Review:
		return "as --review says"
	case land.Review():
		return "as gate.land says"
	case land == policy.LandCareful && w.Audit != nil && len(w.Audit.Checks) > 0:
		return "because it changes " + checkfile.Together(w.Audit.Checks)
	}
	return ""
}

// gated gives the words for the gate's outcomes. A merge that ancestry does not
// confirm is not one: the branch was moved back since, and the result waits
// again.
var gated = map[gate.Outcome]Status{
	gate.Merged:    Finished,
	gate.Nothing:   NoChange,
	gate.Conflict:  Conflicted,
	gate.Waiting:   WaitingFor,
	gate.Violating: Finished,
	gate.Rejected:  Finished,
}

// Live reports whether a worker may still change something, so that its
// write_roots are taken.
func (s Status) Live() bool {
	switch s {
	case MergedIn, NoChange, ThrownAway, InQuarantine:
		return false
	}
	return true
}
