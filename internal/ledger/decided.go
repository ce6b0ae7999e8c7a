package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"cordon/internal/journal"
)

// Decision is the data of Decided: what somebody decided that no other event names.
type Decision struct {
	Choice Choice `json:"choice"`
	Who    string `json:"who"`
}

// Choice is a word for what was decided.
type Choice string

// The choices of a Decision.
const (
	ChoseMerge  Choice = "merge"
	ChoseResume Choice = "resume"
)

// LastDecision is the last decision about a worker.
type LastDecision struct {
	Did string // in words that follow the name of whoever decided
	Who string
	At  time.Time
}

// noteDecision counts the decisions about a worker, and keeps the last one.
func noteDecision(w *Worker, e journal.Event) error {
	if !IsDecision(e.Type) {
		return nil
	}
	var d struct {
		Who      string
		Choice   Choice
		Question int
		Inside   bool `json:"+inside"`
		Retry    bool `json:"+retry"`
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	did := decisions[e.Type]
	switch {
	case e.Type == Answered:
		did = fmt.Sprintf("answered q%d", d.Question)
	case d.Choice == ChoseMerge:
		did = "sent it to the gate"
	case d.Inside:
		did = "sent the part inside its lease to the gate"
	case d.Retry:
		did = "had it tested again"
	}
	w.Decisions++
	w.Last = &LastDecision{Did: did, Who: d.Who, At: e.Time}
	return nil
}

// decisions are the types of event that somebody decided, in words.
var decisions = map[string]string{
	Answered:  "answered",
	StopAsked: "stopped it",
	Decided:   "resumed it",
	Released:  "released it",
	Attempted: "sent it back for another attempt",
	Discarded: "discarded it",
}

// IsDecision reports whether an event of this type is what somebody decided.
func IsDecision(typ string) bool { return decisions[typ] != "" }
