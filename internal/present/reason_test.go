package present

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// Every state has a reason, one sentence in one line.
func TestReason(t *testing.T) {
	open := []ledger.Inquiry{{Number: 1, Question: ledger.Question{Text: "left\nor right?"}}}
	merged := &gate.Result{Outcome: gate.Merged, Commit: "0123456789abcdef0123456789abcdef01234567", Target: "refs/heads/main"}
	for _, c := range []struct {
		status ledger.Status
		w      ledger.Worker
		want   string
	}{
		{ledger.Leasing, ledger.Worker{}, "The lease is sealed; there is no worktree yet."},
		{ledger.Ready, ledger.Worker{}, "The worktree exists; the command has not run."},
		{ledger.Running, ledger.Worker{}, "The command runs."},
		{ledger.Running, ledger.Worker{Questions: open}, "The command runs and asks: left or right?"},
		{ledger.Lost, ledger.Worker{}, "cordon or the machine stopped while the command ran."},
		{ledger.Stopped, ledger.Worker{}, "A person stopped the command."},
		{ledger.Failed, ledger.Worker{Exit: &cell.Exit{Error: "no such file"}}, "Failed: the command could not be started: no such file."},
		{ledger.Asking, ledger.Worker{Questions: open}, "Asks: left or right?"},
		{ledger.Asking, ledger.Worker{}, "The question is answered; cordon resume continues the worker."},
		{ledger.Finished, ledger.Worker{}, "The command ended; cordon merge takes the result to the gate."},
		{ledger.Finished, ledger.Worker{Gate: merged}, "The result was merged as 0123456789, and main no longer contains it."},
		{ledger.Finished, ledger.Worker{Gate: &gate.Result{Outcome: gate.Rejected}}, "The gate refused the result."},
		{ledger.InReview, reviewable(t), "Review: 2 changes for main, which no acceptance command tests."},
		{ledger.InReview, reviewable(t, "make test"), "Review: 2 changes for main, as gate.land says."},
		{ledger.Gating, ledger.Worker{}, "cordon is auditing the result or taking it through the gate."},
		{ledger.NoChange, ledger.Worker{}, "The worker changed nothing that could land."},
		{ledger.Conflicted, ledger.Worker{Gate: &gate.Result{Target: "refs/heads/main", Paths: []audit.Path{"a.txt"}}}, "Conflict with main in a.txt."},
		{ledger.WaitingFor, ledger.Worker{Gate: &gate.Result{Why: "a.txt is changed in your checkout"}}, "Waiting: a.txt is changed in your checkout."},
		{ledger.InQuarantine, ledger.Worker{Quarantine: &ledger.Quarantine{Reasons: []string{"one\x1b[2J", "two"}}}, "Quarantined: one^[[2J (and 1 more)."},
		{ledger.InQuarantine, ledger.Worker{Quarantine: &ledger.Quarantine{}}, "The result did not pass."},
		{ledger.ThrownAway, ledger.Worker{Discard: &ledger.Discard{Who: "me"}}, "Discarded by me."},
		{ledger.ThrownAway, ledger.Worker{Discard: &ledger.Discard{Who: "me", Why: "wrong approach."}}, "Discarded: wrong approach."},
	} {
		if got := Reason(&c.w, worksite.Standing{Status: c.status}); got != c.want {
			t.Errorf("%s: %q, want %q", c.status, got, c.want)
		}
	}
}

func TestTitle(t *testing.T) {
	asked := &ledger.Agent{Client: "claude", Args: []string{"--model", "x"}}
	prompted := &ledger.Agent{Client: "claude", Prompt: "\n  fix the build\nand then rest"}
	for want, w := range map[string]ledger.Worker{
		"make port":        {Command: []string{"make", "port"}},
		"sh -c echo one":   {Command: []string{"sh", "-c", "echo one\necho two"}},
		"fix the build":    {Agent: prompted, Command: prompted.Words()},
		"claude --model x": {Agent: asked, Command: asked.Words()},
		"make all":         {Command: []string{"make", "all"}, Claim: &ledger.Claim{Text: "Ada asked for this"}},
		"":                 {},
	} {
		if got := titleOf(&w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := titleOf(&ledger.Worker{Command: []string{strings.Repeat("x", 1000)}}); len([]rune(got)) != titleColumns {
		t.Errorf("a title of %d characters", len([]rune(got)))
	}
}

// reviewable is a worker with two changes that wait for a person.
func reviewable(t *testing.T, acceptance ...string) ledger.Worker {
	t.Helper()
	p := policy.Default()
	p.Acceptance = acceptance
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sealed, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brisk-otter", Branch: "b", Base: "0123456789abcdef0123456789abcdef01234567", Target: "refs/heads/main",
			Created: began, Expires: began.Add(time.Hour), Policy: p,
		},
		Place: lease.Place{Worktree: "/state/brisk-otter", Home: "/home"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Worker{Lease: sealed, Audit: &ledger.Audit{Summary: audit.Summary{Landing: 2}}}
}
