// Package ledger gives the journal's events their meaning: the types of event
// there are, what each carries, and the fold that makes workers of them.
//
// Every status that cordon shows is derived here from events and from facts that
// can be checked at the moment of asking (a lock that is held, a commit that is
// an ancestor). The package refuses to store a status.
//
// # Versions
//
// Every journal that a version of cordon wrote is read by all later ones. An earlier
// version reads what a later one wrote as far as it can without guessing:
//
//   - An event whose type begins with "+" is additive. A version that does not know the
//     type skips it; it stays in the journal, in the chain and in cordon journal.
//   - A field whose name begins with "+", at any depth of the data of an event or of a
//     lease, is additive too, and is left out by those who do not know it.
//   - Any other type or field that is not known is refused, naming the version that wrote
//     it: it may take something back or forbid something.
//   - The data of an event names that version in the field "+version" where the event may
//     hold something that the first version does not know: in leases, in releases, and in
//     every type that came later.
//   - A key that a lease does not have means what the version did that sealed it. Values
//     that depend on the version or the machine are therefore written into the lease when
//     it is sealed, and a new key of the policy has a zero value that stands for its
//     absence and that is not encoded.
package ledger

import (
	"encoding/json"
	"time"

	"cordon/internal/audit"
	"cordon/internal/checkfile"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/worktree"
)

// The types of event, in the order a worker meets them.
const (
	Leased      = "lease.sealed"       // Lease: before anything else exists
	Prepared    = "worktree.ready"     // Tree
	NotStarted  = "+worker.refused"    // Refusal: a launch was refused before the command ran
	Started     = "worker.started"     // Start: before the command runs
	Visited     = "worker.visited"     // Visit: before the visitor's command runs
	Wired       = "agent.wired"        // Wiring: how its client was started, before it runs
	Proven      = "agent.proven"       // Proof: its hooks were seen alive
	Asked       = "agent.asked"        // Question
	Answered    = "agent.answered"     // Answer, of the operator's
	Heard       = "agent.heard"        // Hearing: the worker has got the answer
	RateLimited = "+agent.limited"     // RateLimit: its client says that its provider is asked too often
	Claimed     = "agent.claimed"      // Claim: the agent says that it is done
	Summed      = "agent.summed"       // Stream: what its client says it did
	Guarded     = "guard.decided"      // guard.Tally: what its guard decided while it ran
	Reached     = "net.decided"        // record.Tally: what it tried to reach, also setup and acceptance
	StopAsked   = "+worker.stop"       // Stop: before its supervisor is signalled
	Decided     = "+operator.decided"  // Decision: before what it asks for is done
	Ended       = "worker.ended"       // cell.Exit
	Audited     = "audit.done"         // Audit
	Proposed    = "+review.due"        // Proposal: its result would land, and is to be reviewed before
	Intended    = "land.intended"      // gate.Landing: before the target moves
	Judged      = "gate.judged"        // gate.Result
	ThenStarted = "+then.started"      // Then: before the operator's command after a landing runs
	ThenEnded   = "+then.ended"        // ThenEnd
	Notified    = "+operator.notified" // Notice: before it is sent
	Awaiting    = "+gate.waits"        // Wait: a cordon process waits with a result that Judged left waiting
	Quarantined = "worker.quarantined" // Quarantine
	Released    = "quarantine.released"
	Attempted   = "attempt.begun"    // Attempt: before the tree of the attempt before is put aside
	Discarded   = "worker.discarded" // Discard
	Removed     = "worker.removed"   // Removal: before anything is deleted
	Branched    = "worker.branched"  // Branch: before it is made
	Named       = "+refs.named"      // Refs: before refs of cordon's own are written
	Recovered   = "worker.recovered" // Recovery: its lease was lost, and is made anew
	Repaired    = "journal.repaired"
	Salvaged    = journal.Salvaged // journal.Salvage: the journal was damaged
)

// Lease is the data of Leased.
type Lease struct {
	Lease   json.RawMessage `json:"lease"`
	Hash    string          `json:"hash"`
	Command []string        `json:"command"`
	Options Options         `json:"options"`
	Overlap []string        `json:"overlap,omitempty"` // live workers whose write_roots may intersect
	Agent   *Agent          `json:"agent,omitempty"`   // nil: a command
	Stage   *StageOf        `json:"+stage,omitempty"`  // nil: it is for no plan
	// Feedback is what the worker is told about an attempt that ran on another machine.
	Feedback string `json:"+feedback,omitempty"`
	// Signal is what StageOf.Signal is, of a plan on another machine.
	Signal string `json:"+signal,omitempty"`
	// Memory is limits.memory of the policy in bytes, if that names a size: a node has to have it. The lease has
	// that of this machine otherwise.
	Memory int64 `json:"+memory,omitempty"`
	// Opens is what the policy of the repository opens, to which the operator had agreed.
	Opens []string `json:"+opens,omitempty"`
}

// Recovery is the data of Recovered: an operator's repair found what a worker left
// and no lease of it. Its lease is a new one under which nothing may land, and it is
// in quarantine from here on.
type Recovery struct {
	Lease   json.RawMessage `json:"lease"`
	Hash    string          `json:"hash"`
	Command []string        `json:"command,omitempty"` // as far as it is known
	Who     string          `json:"who"`
	Reasons []string        `json:"reasons"`
}

// Options are what the operator asked for beside the policy.
type Options struct {
	NoMerge       bool   `json:"no_merge,omitempty"`
	Merge         bool   `json:"merge,omitempty"`  // whatever gate.land says
	Review        bool   `json:"review,omitempty"` // the same: it waits for a person
	KeepHistory   bool   `json:"keep_history,omitempty"`
	OperatorWorks bool   `json:"operator_works,omitempty"` // unattributed changes of the host are reported, not refused
	Interactive   bool   `json:"interactive,omitempty"`
	NewTarget     bool   `json:"+new_target,omitempty"` // the target did not exist, and is created at the landing
	LandAs        string `json:"+land_as,omitempty"`    // "": as the operator's configuration says
	// On is the node of a fleet that runs the command, or AnyNode; "": this machine.
	On string `json:"on,omitempty"`
	// Message is the operator's own for the commit that lands.
	Message string `json:"+message,omitempty"`
}

// Tree is the data of Prepared.
type Tree = worktree.Made

// Start is the data of Started.
type Start struct {
	Command  []string `json:"command"`
	Baseline string   `json:"baseline"` // SHA-256 of the host's recorded state
	Agent    bool     `json:"agent,omitempty"`
	Boot     string   `json:"boot,omitempty"`      // the start of the machine that it ran in
	Heard    []int    `json:"heard,omitempty"`     // questions whose answers it is told at its start
	Attended bool     `json:"+attended,omitempty"` // it has a terminal, at which a person sits
	Cell
}

// Refusal is the data of NotStarted.
type Refusal struct {
	Why string `json:"why"`
}

// Visit is the data of Visited. What a visitor does to the tree is judged as the
// worker's.
type Visit struct {
	Command []string `json:"command,omitempty"` // nothing: a shell
}

// Stop is the data of StopAsked: somebody ended a worker with cordon stop.
type Stop struct {
	Who   string        `json:"who"`
	Grace time.Duration `json:"grace"` // how long its command may take to end
}

// Audit is the data of Audited.
type Audit struct {
	Verdict string        `json:"verdict"`
	Summary audit.Summary `json:"summary"`
	Digest  string        `json:"digest"`
	Report  string        `json:"report"` // SHA-256 of the stored report
	Others  int           `json:"others,omitempty"`
	Idle    bool          `json:"+idle,omitempty"`  // the last attempt changed nothing
	Whole   bool          `json:"+whole,omitempty"` // it counts what was carried over; an older cordon did not
	// Checks are what its landing would change of the things that check results.
	Checks []checkfile.Kind `json:"+checks,omitempty"`
}

// Then is the data of ThenStarted: the operator's command after a landing. It runs once:
// where its end is not known, nobody runs it again unasked.
type Then struct {
	Command []string `json:"command"` // as the configuration has it
	Commit  git.OID  `json:"commit"`  // that landed
	Ref     string   `json:"ref"`     // where
	End     *ThenEnd `json:"-"`       // nil: it is not known
}

// ThenEnd is the data of ThenEnded.
type ThenEnd struct {
	Code   int    `json:"code"` // -1: it did not exit by itself
	How    string `json:"how"`  // in words
	Output string `json:"output,omitempty"`
}

// Notice is the data of Notified: what the operator is told of, once.
type Notice struct {
	About string `json:"about"` // the state, or the question
}

// Wait is the data of Awaiting: it lands the result if its obstacles go in time.
type Wait struct {
	Until time.Time `json:"until"`
}

// ThenDue reports whether the operator's command after a landing has yet to be started.
func (w *Worker) ThenDue() bool {
	return w.Intent != nil && len(w.Intent.Then) > 0 && w.Merged() && w.Then == nil
}

// Quarantine is the data of Quarantined.
type Quarantine struct {
	Reasons  []string `json:"reasons"`
	Result   git.OID  `json:"result,omitempty"`
	History  git.OID  `json:"history,omitempty"`
	Evidence git.OID  `json:"evidence,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	Causes   []Cause  `json:"+causes,omitempty"` // older events do not name them
}

// Cause is a kind of reason for a quarantine.
type Cause string

// The kinds. Each needs something else from the operator.
const (
	BrokeLease       Cause = "lease"      // files or commits that the lease does not allow
	WroteOutside     Cause = "outside"    // files outside the tree, which no lease can allow
	ChangedHost      Cause = "host"       // changes of the operator's repository
	UnprovenGuard    Cause = "unproven"   // an agent that may have run without its guard
	FailedAcceptance Cause = "acceptance" // tests that did not pass
	NotJudged        Cause = "unjudged"   // an error: the result could not be judged
)

// Release is the data of Released.
type Release struct {
	Lease json.RawMessage `json:"lease"`
	Hash  string          `json:"hash"`
	Who   string          `json:"who"`
	Why   string          `json:"why"`
	// LeaveBehind: what could not be stored was given up knowingly.
	LeaveBehind bool `json:"leave_behind,omitempty"`
	// Waives are the kinds of fault that the operator named. Releases of older versions
	// waived all but failed acceptance, and name none.
	Waives []Cause `json:"+waives,omitempty"`
	// Inside: only the changes inside the lease land, and the others stay behind.
	Inside bool `json:"+inside,omitempty"`
	// Retry: only acceptance runs again, under the same rights. It waives nothing.
	Retry bool `json:"+retry,omitempty"`
}

// Branch is the data of Branched: a branch of the operator's that holds what a worker
// changed.
type Branch struct {
	Ref    string  `json:"ref"`
	Commit git.OID `json:"commit"`
}

// Discard is the data of Discarded.
type Discard struct {
	Who string `json:"who"`
	Why string `json:"why,omitempty"`
}

// Removal is the data of Removed.
type Removal struct {
	Why string `json:"why"`
}
