package session

import (
	"context"
	"os"
	"testing"

	"cordon/internal/dispatch"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/plan"
	"cordon/internal/policy"
	"cordon/internal/post"
)

const votePlan = "version: 1\nplan: p\nstages:\n  - {id: v, kind: verify, task: t, truths: [One., Two., Three.]}\n"

// verifier is a launch of a client that may answer three claims.
func (c *counter) verifier() {
	c.t.Helper()
	p := policy.Default()
	ctx := context.Background()
	err := c.s.AppendIf("", ledger.PlanOpened, ledger.Opening{Plan: "p", Run: 1, Text: votePlan, Digest: plan.Digest([]byte(votePlan)), Target: "refs/heads/main"}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	stage := ledger.StageOf{Plan: "p", Run: 1, Stage: "v", Kind: plan.Verify, Claims: []string{"One.", "Two.", "Three."}}
	if c.w, err = dispatch.Lease(ctx, c.s.Site, dispatch.Request{Command: []string{"true"}, Policy: &p, Source: "test", Stage: &stage}); err != nil {
		c.t.Fatal(err)
	}
	if err := os.MkdirAll(c.s.State.Worker(string(c.w.ID)), 0o700); err != nil {
		c.t.Fatal(err)
	}
	c.box = mailbox.New(c.s.Site, c.w, c.s.Now(), nil)
	c.box.Guarded = true
}

func (c *counter) answers() map[string]ledger.TruthAnswer {
	c.t.Helper()
	c.box.Close()
	now, err := c.s.Ledger()
	if err != nil {
		c.t.Fatal(err)
	}
	return now.Plan("p").Answers["v"]
}

// The answers of a guarded client are those that its guard saw as calls of their own. What runs in the cell adds none, and
// keeps none from arriving.
func TestVotesOfAGuarded(t *testing.T) {
	c := newCounter(t)
	c.verifier()
	ask := func(r post.Request) post.Reply { return c.box.Handle(context.Background(), r) }
	yes := post.Request{Verb: post.Truth, Number: 1, Yes: true, Text: "I looked"}
	saw := func(call, input string, v guard.Verdict, said ...string) {
		t.Helper()
		record := recordJSON(t, guard.Record{Client: "claude", Tool: "Bash", Call: call, Input: input, Verdict: v})
		if r := ask(post.Request{Verb: post.Decided, Record: record, Said: said}); r.Error != "" {
			t.Fatal(r.Error)
		}
	}

	if r := ask(yes); r.Error == "" {
		t.Error("an answer counts that the guard did not see")
	}
	saw("1", "sh tests.sh", guard.Allow, "truth", "1", "yes", "I looked")
	saw("2", "cordon truth 1 yes I looked", guard.Deny, "truth", "1", "yes", "I looked")
	saw("3", "sh tests.sh; cordon truth 1 yes I looked", guard.Allow)
	ofEvent := recordJSON(t, guard.Record{Client: "claude", Event: "Stop", Input: "cordon truth 1 yes I looked", Verdict: guard.Allow})
	if r := ask(post.Request{Verb: post.Decided, Record: ofEvent, Said: []string{"truth", "1", "yes", "I looked"}}); r.Error != "" {
		t.Fatal(r.Error)
	}
	if r := ask(yes); r.Error == "" || len(c.answers()) != 0 {
		t.Errorf("an answer counts that was no call of its own: %+v", c.answers())
	}

	saw("4", "cordon truth 1 yes I looked", guard.Allow, "truth", "1", "yes", "I looked")
	saw("4", "cordon truth 1 yes I looked", guard.Allow, "truth", "1", "yes", "I looked") // a client that asks twice
	for range 5 {
		if r := ask(yes); r.Error != "" { // control; and saying it again is no answer more
			t.Error(r.Error)
		}
	}
	other := yes
	other.Yes = false
	if r := ask(other); r.Error == "" {
		t.Error("the guard saw a yes, and a no counts")
	}
	if a := c.answers()["One."]; !a.Yes || a.Why != "I looked" {
		t.Errorf("%+v", a)
	}

	saw("5", "cordon truth 2 no It is wrong", guard.Allow, "truth", "2", "no", "It is wrong") // whose command never arrives
	if a, ok := c.answers()["Two."]; !ok || a.Yes || a.Why != "It is wrong" {
		t.Errorf("a no that the guard saw does not count: %+v", a)
	}
	saw("6", "cordon truth 2 yes It is fine", guard.Allow, "truth", "2", "yes", "It is fine")
	if a := c.answers()["Two."]; a.Yes {
		t.Errorf("a no is not final: %+v", a)
	}
}
