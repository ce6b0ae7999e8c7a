package ledger

import (
	"testing"

	"cordon/internal/egress/record"
)

// What a worker tried to reach is of all its launches: a later tally takes the place
// of an earlier one, and a new launch does not.
func TestReached(t *testing.T) {
	b := (&book{t: t}).leased(otter).add(otter, Prepared, Tree{}).add(otter, Started, Start{})
	if w := b.fold().Workers[0]; w.Net != nil {
		t.Errorf("nothing was tried: %+v", w.Net)
	}
	b.add(otter, Reached, record.Tally{Refused: 2, Tried: []record.Tried{{Name: "a.example", Port: 443, Verdict: record.Refused, Count: 2}}})
	b.add(otter, Ended, failed).add(otter, Started, Start{})
	if w := b.fold().Workers[0]; w.Net == nil || w.Net.Refused != 2 || w.Exit != nil {
		t.Errorf("launched again: %+v", w.Net)
	}
	b.add(otter, Reached, record.Tally{Refused: 3, Allowed: 1})
	if w := b.fold().Workers[0]; w.Net.Refused != 3 || w.Net.Allowed != 1 || len(w.Net.Tried) != 0 {
		t.Errorf("tallied again: %+v", w.Net)
	}
	b.add(otter, Reached, map[string]int{"dropped": 1})
	if _, err := Fold(b.events); err == nil {
		t.Error("a tally of another version was believed")
	}
}
