package ledger

import (
	"testing"

	"cordon/internal/cell"
)

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

// TestAwayLimited: a node's word that the provider is asked too often counts for a client that failed, and for that launch only.
func TestAwayLimited(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		agent            *Agent
		back             Return
		exit             int
		limits, failures int
	}{
		"limited":            {&Agent{Client: "codex"}, Return{Exit: 1, Limited: true}, 1, 1, 0},
		"failed":             {&Agent{Client: "codex"}, Return{Exit: 1}, 1, 0, 1}, // also by an older node, which does not say why
		"succeeded":          {&Agent{Client: "codex"}, Return{Limited: true}, 0, 0, 0},
		"without a provider": {nil, Return{Exit: 1, Limited: true}, 1, 0, 1},
	} {
		b := &book{t: t}
		s := sealed(t, otter)
		b.add(otter, Leased, Lease{Lease: s.Bytes(), Hash: s.Hash(), Command: []string{"true"}, Agent: row.agent}).add(otter, Prepared, Tree{})
		b.add(otter, Offered, Offer{On: AnyNode}).add(otter, Granted, Grant{Node: "UA"}).add(otter, Returned, row.back)
		b.add(otter, Started, Start{}).add(otter, Ended, cell.Exit{Code: row.exit, Reason: cell.Exited})
		if w := b.fold().Workers[0]; w.Limits != row.limits || w.Failures != row.failures || w.Limited != (row.limits > 0) {
			t.Errorf("%s: %d limits, %d failures, limited %v", name, w.Limits, w.Failures, w.Limited)
		}
		b.add(otter, Offered, Offer{On: AnyNode}).add(otter, Granted, Grant{Node: "UA"}).add(otter, Returned, Return{Exit: 1})
		b.add(otter, Started, Start{}).add(otter, Ended, cell.Exit{Code: 1, Reason: cell.Exited})
		if w := b.fold().Workers[0]; w.Limits != row.limits || w.Failures != row.failures+1 || w.Limited {
			t.Errorf("%s, then a failure: %d limits, %d failures, limited %v", name, w.Limits, w.Failures, w.Limited)
		}
	}
}
