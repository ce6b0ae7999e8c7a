package ledger

import (
	"slices"
	"testing"

	"cordon/internal/fleet/trial"
)

// The trial of a result follows from what was offered last, and does not change where the command of its worker is.
func TestTrial(t *testing.T) {
	t.Parallel()
	b := &book{t: t}
	b.leased("brisk-otter")
	look := func() *Worker {
		t.Helper()
		l, err := Fold(b.events)
		if err != nil {
			t.Fatal(err)
		}
		w, err := l.Find("brisk-otter")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	last := func() uint64 { return b.events[len(b.events)-1].Seq }
	for _, node := range []string{"UA", "UB", "UA"} {
		b.add("brisk-otter", Offered, Offer{On: AnyNode}).add("brisk-otter", Granted, Grant{Node: node}).add("brisk-otter", Returned, Return{Node: node})
	}
	if w := look(); !slices.Equal(w.Makers, []string{"UA", "UB"}) || w.Trial != nil {
		t.Errorf("made by %v", w.Makers)
	}
	offer := TrialOffer{Commit: "c1", Order: trial.Order{Tree: "t1", Commands: []string{"make"}, Authors: []string{"UA", "UB"}}}
	b.add("brisk-otter", TrialOffered, offer)
	seq := last()
	b.add("brisk-otter", TrialGranted, Grant{Node: "UC", Name: "three"})
	fence := last()
	if w := look(); w.Trial.Seq != seq || w.Trial.Fence != fence || w.Trial.Grant.Name != "three" || w.Trial.Return != nil || w.Away.Grant.Node != "UA" {
		t.Errorf("granted: %+v, %+v", w.Trial, w.Away)
	}
	b.add("brisk-otter", TrialReturned, Return{Node: "UC", Fence: fence, Verdict: &trial.Verdict{Tree: "t1", Checks: []trial.Check{{Command: "make"}}}})
	if w := look(); w.Trial.Return == nil || w.Trial.Return.Verdict.Tree != "t1" || !slices.Equal(w.Makers, []string{"UA", "UB"}) {
		t.Errorf("returned: %+v, made by %v", w.Trial, w.Makers)
	}
	b.add("brisk-otter", TrialOffered, offer)
	if w := look(); w.Trial.Return != nil || w.Trial.Grant != nil || w.Trial.Seq != last() {
		t.Errorf("offered again: %+v", w.Trial)
	}
	b.add("brisk-otter", TrialWithdrawn, Withdrawal{Why: "too late"}).add("brisk-otter", TrialReturned, Return{Node: "UC"}) // it crossed the withdrawal
	if w := look(); w.Trial.Withdrawn == nil || w.Trial.Withdrawn.Why != "too late" || w.Trial.Return != nil {
		t.Errorf("withdrawn: %+v", w.Trial)
	}
	for _, typ := range []string{Offered, Granted, Returned, Withdrawn} {
		if of, ok := OfTrial(TrialType(typ)); !ok || of != typ {
			t.Errorf("%s: %s", typ, of)
		}
	}
	if _, ok := OfTrial(Granted); ok {
		t.Error("a grant of a command is taken for one of a trial")
	}
}
