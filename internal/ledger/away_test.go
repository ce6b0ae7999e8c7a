package ledger

import "testing"

// Where the command of a worker is follows from what was offered last, whatever came before.
func TestAway(t *testing.T) {
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
	b.add("brisk-otter", Prepared, Tree{})
	if w := look(); w.Away != nil || w.RunsAway() {
		t.Errorf("before it was offered: %+v", w.Away)
	}
	b.add("brisk-otter", Offered, Offer{On: AnyNode})
	if w := look(); w.Away == nil || w.RunsAway() || w.Status(Facts{Held: true}) != Ready {
		t.Errorf("offered: %+v", w.Away)
	}
	b.add("brisk-otter", Granted, Grant{Node: "UA", Name: "one"})
	fence := b.events[len(b.events)-1].Seq
	if w := look(); !w.RunsAway() || w.Away.Fence != fence || w.Away.Grant.Name != "one" || w.Status(Facts{Held: true}) != Running || w.Status(Facts{}) != Ready {
		t.Errorf("granted: %+v", w.Away)
	}
	b.add("brisk-otter", Withdrawn, Withdrawal{Why: "stopped"})
	b.add("brisk-otter", Returned, Return{Fence: fence}) // it crossed the withdrawal
	if w := look(); w.Away != nil {
		t.Errorf("withdrawn: %+v", w.Away)
	}
	b.add("brisk-otter", Offered, Offer{On: "one"})
	if w := look(); w.Away == nil || w.Away.Grant != nil || w.Away.Return != nil || w.Away.Seq != b.events[len(b.events)-1].Seq {
		t.Errorf("offered again: %+v", w.Away)
	}
	b.add("brisk-otter", Granted, Grant{Node: "UB", Name: "two"}).add("brisk-otter", Returned, Return{Node: "UB", Exit: 3})
	if w := look(); w.RunsAway() || w.Away.Return == nil || w.Away.Return.Exit != 3 {
		t.Errorf("returned: %+v", w.Away)
	}
}
