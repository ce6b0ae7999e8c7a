package ledger

import (
	"encoding/json"
	"slices"

	"cordon/internal/fleet/packname"
	"cordon/internal/fleet/trial"
	"cordon/internal/git"
	"cordon/internal/journal"
)

// The types of event of a worker whose command runs on a node of a fleet. The session offers and
// withdraws; the home of the fleet grants and takes results. They are additive, but
// the option on of such a worker is not: a version that does not know it must not run the command here.
const (
	Offered   = "+fleet.offered"   // Offer: whatever was granted or returned before counts no more
	Granted   = "+fleet.granted"   // Grant; the number of the event is the fence
	Returned  = "+fleet.returned"  // Return: the result was taken
	Withdrawn = "+fleet.withdrawn" // Withdrawal: no node is to run it any more
)

// AnyNode is the option on of a worker that any node may take.
const AnyNode = "*"

// Offer is the data of Offered.
type Offer struct {
	On string `json:"on"` // the name of a node, or AnyNode
}

// Grant is the data of Granted.
type Grant struct {
	Node string `json:"node"` // key
	Name string `json:"name"` // for people
	// Terms is the hash of the terms that were offered. What the operator answers later is told to the next node that gets
	// the stage, so its terms are others.
	Terms string `json:"+terms,omitempty"`
}

// Return is the data of Returned: who returned what, and under which fence. The home has
// verified the signature, the fence and that the pack is there; nothing else of it is
// believed.
type Return struct {
	Node     string          `json:"node"`
	Fence    uint64          `json:"fence"`
	Sum      string          `json:"sum"`      // of the signed manifest
	Manifest json.RawMessage `json:"manifest"` // as it was signed
	// These are what the manifest says.
	Base   git.OID       `json:"base"`
	Commit git.OID       `json:"commit,omitempty"` // "": the worker changed nothing
	Pack   packname.Name `json:"pack,omitzero"`
	Exit   int           `json:"exit"`
	Ending string        `json:"ending"`
	// Verdict is that of a trial; nil: the node could not test, and Ending says why.
	Verdict *trial.Verdict `json:"+verdict,omitempty"`
	// Limited: the command failed because its provider is asked too often.
	Limited bool `json:"+limited,omitempty"`
}

// Withdrawal is the data of Withdrawn.
type Withdrawal struct {
	Why string `json:"why"`
}

// Away is where the command of a worker is that runs on a node. What it points to never
// changes.
type Away struct {
	Seq    uint64 // of the event that offered it
	Grant  *Grant // nil: no node has it
	Fence  uint64
	Return *Return // nil: it has not come back
}

// RunsAway reports whether the command of a worker is in the hands of a node.
func (w *Worker) RunsAway() bool {
	return w.Away != nil && w.Away.Grant != nil && w.Away.Return == nil && w.Exit == nil
}

// endedByLimit reports whether the command that ends failed because its provider is asked too often: by the word of its
// client, or by that of the node which ran it. Only a client has a provider.
func (w *Worker) endedByLimit() bool {
	if w.Away != nil && w.Away.Return != nil {
		return w.Away.Return.Limited && w.Agent != nil
	}
	return w.Stream != nil && w.Stream.Limited
}

// applyAway changes where the command is. Only what was offered can be granted or returned.
func applyAway(change func(*Away, journal.Event) error) func(*Worker, journal.Event) error {
	return func(w *Worker, e journal.Event) error {
		if w.Away == nil {
			return nil // it was withdrawn meanwhile
		}
		now := *w.Away
		w.Away = &now
		return change(&now, e)
	}
}

func (a *Away) grant(e journal.Event) error {
	a.Grant, a.Fence = new(Grant), e.Seq
	return read(e, a.Grant)
}

func (a *Away) giveBack(e journal.Event) error {
	a.Return = new(Return)
	return read(e, a.Return)
}

// returned notes who has made a result, for good: an attempt goes on from what an earlier one left.
func returned(w *Worker, e journal.Event) error {
	var r Return
	if err := read(e, &r); err != nil {
		return err
	}
	if !slices.Contains(w.Makers, r.Node) {
		w.Makers = append(slices.Clip(w.Makers), r.Node)
	}
	return applyAway((*Away).giveBack)(w, e)
}
