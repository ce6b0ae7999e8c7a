package ledger

import (
	"encoding/json"
	"slices"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
)

// Refs is the data of Named.
type Refs struct {
	Refs []gate.Naming `json:"refs"`
}

// Given lists the values that cordon gave to refs of the host since an event, "" for those that it
// deleted, and the workers that did anything since. For a ref of its own, it may have been about to
// write the last value before that event.
func (l *Ledger) Given(since uint64) (given map[string][]git.OID, workers map[string]bool) {
	given, workers = map[string][]git.OID{}, map[string]bool{}
	for _, e := range l.Events {
		if e.Seq >= since {
			workers[e.Worker] = true
			if move := moved(e); move.New != "" {
				given[move.Ref] = append(given[move.Ref], move.New)
			}
		}
		for _, n := range named(e) {
			values := []git.OID{n.OID}
			if n.From != "" {
				values = slices.DeleteFunc(slices.Clone(given[n.From]), git.OID.IsZero)
			}
			if e.Seq < since {
				delete(given, n.Ref)
			}
			given[n.Ref] = append(given[n.Ref], values...)
		}
	}
	for _, w := range l.Workers { // a lease is written before its pin
		pin := gate.PinOf(w.ID)
		given[pin] = append(given[pin], w.Lease.Lease().Base)
	}
	return given, workers
}

// moved is what an event says of a branch that cordon is about to move or make.
func moved(e journal.Event) (move gate.Landing) {
	var made Branch
	switch e.Type {
	case Intended:
		_ = json.Unmarshal(e.Data, &move) // no move, if it cannot be read
	case Branched:
		_ = json.Unmarshal(e.Data, &made)
		move.Ref, move.New = made.Ref, made.Commit
	}
	return move
}

// named are the new values of refs of cordon's own that an event tells. Versions before Named told
// them only after they had written them.
func named(e journal.Event) (list []gate.Naming) {
	id := lease.ID(e.Worker)
	var d struct {
		Refs
		Commit, Result, History, Evidence git.OID
	}
	switch e.Type {
	case Named, Judged, Quarantined:
		if json.Unmarshal(e.Data, &d) != nil {
			return nil
		}
	default:
		return nil
	}
	list = d.Refs.Refs
	for ref, oid := range map[string]git.OID{
		gate.ResultOf(id): d.Commit, gate.EvidenceOf(id, "result"): d.Result,
		gate.EvidenceOf(id, "history"): d.History, gate.EvidenceOf(id, "evidence"): d.Evidence,
	} {
		if oid != "" {
			list = append(list, gate.Naming{Ref: ref, OID: oid})
		}
	}
	return list
}
