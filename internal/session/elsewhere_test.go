package session

import (
	"errors"
	"testing"
	"time"

	"cordon/internal/fleet/trial"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// The gate holds a verdict to what was offered, whatever the home has taken.
func TestBelieve(t *testing.T) {
	t.Parallel()
	o := ledger.TrialOffer{Commit: "c1", Order: trial.Order{Tree: "t1", Commands: []string{"make"}, Authors: []string{"UA"}}}
	sample := func() *ledger.Trial {
		return &ledger.Trial{Offer: o, Away: ledger.Away{Fence: 7, Grant: &ledger.Grant{Node: "UB"}, Return: &ledger.Return{
			Node: "UB", Fence: 7, Base: "c1", Verdict: &trial.Verdict{Tree: "t1", Checks: []trial.Check{{Command: "make"}}},
		}}}
	}
	if err := believe(sample(), o); err != nil {
		t.Errorf("the control: %v", err)
	}
	for name, change := range map[string]func(*ledger.Trial){
		"another node":    func(x *ledger.Trial) { x.Return.Node = "UC" },
		"an older fence":  func(x *ledger.Trial) { x.Return.Fence = 6 },
		"another commit":  func(x *ledger.Trial) { x.Return.Base = "c2" },
		"another tree":    func(x *ledger.Trial) { x.Return.Verdict.Tree = "t2" },
		"another command": func(x *ledger.Trial) { x.Return.Verdict.Checks[0].Command = "true" },
		"the author":      func(x *ledger.Trial) { x.Return.Node, x.Grant.Node = "UA", "UA" },
	} {
		x := sample()
		if change(x); believe(x, o) == nil {
			t.Errorf("%s is believed", name)
		}
	}
}

// Nobody waits for ever: not without a node, not for nodes that lose a trial, and not for one that goes on and on.
func TestTrialWait(t *testing.T) {
	t.Parallel()
	now := &ledger.Ledger{Nodes: []ledger.Node{{Name: "one", Key: "UA"}, {Name: "two", Key: "UB", Removed: true}}}
	free, held := &ledger.Trial{}, func(node string, fence uint64) *ledger.Trial {
		return &ledger.Trial{Away: ledger.Away{Fence: fence, Grant: &ledger.Grant{Node: node, Name: node}}}
	}
	begin := func() *trialWait { return &trialWait{began: time.Now(), idle: time.Now()} }
	w := begin()
	if w.note(free, false) || w.given(now, free, time.Hour) != "" || !w.note(held("UA", 1), true) || w.note(held("UA", 1), true) {
		t.Errorf("%+v", w)
	}
	if w.given(now, held("UA", 1), time.Hour) != "" || w.given(now, held("UB", 1), time.Hour) == "" || w.given(now, held("UA", 1), 0) == "" {
		t.Error("a node that was removed or takes too long is waited for, or one that works is not")
	}
	if w.idle = time.Now().Add(-2 * trialPatience); w.given(now, held("UA", 1), time.Hour) == "" {
		t.Error("a node that is not heard of is waited for")
	}
	for fence := range uint64(maxTrialGrants + 1) {
		w.note(held("UA", fence+1), true)
	}
	if w.given(now, held("UA", 9), time.Hour) == "" {
		t.Error("nodes that return nothing are given the trial again and again")
	}
}

func TestLongest(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	p.Setup, p.Acceptance, p.AcceptancePaths = []string{"s"}, []string{"a", "b", "c"}, map[string][]string{"c": {"src"}}
	p.Limits.Time = policy.Duration(time.Hour)
	now := time.Now()
	l := lease.Lease{Terms: lease.Terms{Policy: p, Expires: now.Add(100 * time.Hour)}}
	if got := longest(l, now); got != 5*time.Hour+trialSlack { // two trees, each with its setup
		t.Error(got)
	}
	l.Expires = now.Add(time.Hour)
	if got := longest(l, now); got != time.Hour {
		t.Error(got)
	}
	l.Policy.Limits.Time = 0
	if got := longest(l, now); got != time.Hour {
		t.Error(got)
	}
}

// A trial that was withdrawn, is gone, or has no verdict ends the wait with the reason.
func TestEnded(t *testing.T) {
	t.Parallel()
	grant := &ledger.Grant{Name: "two"}
	for why, w := range map[string]*ledger.Worker{
		"the trial is gone":             {},
		"enough":                        {Trial: &ledger.Trial{Withdrawn: &ledger.Withdrawal{Why: "enough"}}},
		"two could not test it: no git": {Trial: &ledger.Trial{Away: ledger.Away{Grant: grant, Return: &ledger.Return{Ending: "no git"}}}},
	} {
		over, err := ended(w)
		if none := (*noVerdictError)(nil); over || !errors.As(err, &none) || none.why != why {
			t.Errorf("%s: %v %v", why, over, err)
		}
	}
	if over, err := ended(&ledger.Worker{Trial: &ledger.Trial{}}); over || err != nil {
		t.Errorf("it waits: %v %v", over, err)
	}
	if over, err := ended(&ledger.Worker{Trial: &ledger.Trial{Away: ledger.Away{Grant: grant, Return: &ledger.Return{Verdict: &trial.Verdict{}}}}}); !over || err != nil {
		t.Errorf("it is there: %v %v", over, err)
	}
}
