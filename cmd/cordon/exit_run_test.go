package main

import (
	"testing"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/launch"
	"cordon/internal/ledger"
)

// The exit code of a run says more than the status of its worker: cordon wait returns it.
func TestCodeOfRun(t *testing.T) {
	t.Parallel()
	then := func(code int) *ledger.Then { return &ledger.Then{End: &ledger.ThenEnd{Code: code}} }
	for _, c := range []struct {
		name   string
		w      ledger.Worker
		status ledger.Status
		want   int
	}{
		{"merged", ledger.Worker{Gate: &gate.Result{}}, ledger.MergedIn, 0},
		{"merged by hand", ledger.Worker{}, ledger.MergedIn, 0},
		{"a checkout did not follow", ledger.Worker{Gate: &gate.Result{Checkout: "/r"}}, ledger.MergedIn, 5},
		{"land.then succeeded", ledger.Worker{Gate: &gate.Result{}, Then: then(0)}, ledger.MergedIn, 0},
		{"land.then failed", ledger.Worker{Gate: &gate.Result{}, Then: then(1)}, ledger.MergedIn, 5},
		{"land.then was killed", ledger.Worker{Gate: &gate.Result{}, Then: &ledger.Then{}}, ledger.MergedIn, 5},
		{"failed", ledger.Worker{Exit: &cell.Exit{Code: 1, Reason: cell.Exited}}, ledger.Failed, 6},
		{"no hook reported", ledger.Worker{Exit: &cell.Exit{Reason: launch.Unproven}}, ledger.Failed, 3},
		{"refused before it started", ledger.Worker{Refusal: &ledger.Refusal{Why: "a layer is missing"}}, ledger.Ready, 3},
		{"ready", ledger.Worker{}, ledger.Ready, 1},
		{"waiting", ledger.Worker{Gate: &gate.Result{}}, ledger.WaitingFor, 5},
		{"lost", ledger.Worker{}, ledger.Lost, 1},
	} {
		if got := codeOfRun(&c.w, c.status); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for want, codes := range map[int][]int{0: {0, 0}, 5: {0, 5}, 3: {5, 3, 6}, 1: {3, 1}} {
		if got := codeOf(worst(codes)); got != want {
			t.Errorf("%v: %d, want %d", codes, got, want)
		}
	}
}
