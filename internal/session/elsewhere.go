package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cordon/internal/config"
	"cordon/internal/fleet/trial"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/worksite"
)

// acceptElsewhere has a node test the tree of a commit: one that did not make the result. The operator allows that in their
// own configuration. Without a verdict that answers for this tree, ok is false, and the tree is to be tested here.
func (s *Session) acceptElsewhere(ctx context.Context, w *ledger.Worker, commit git.OID, out io.Writer) (checks []gate.Check, ok bool, err error) {
	own, err := s.Operator()
	if err != nil || own.Fleet.Acceptance != config.OnNode || w.Options.On == "" || len(w.Makers) == 0 {
		return nil, false, err
	}
	order, err := s.trialOf(ctx, w, commit)
	if err != nil {
		return nil, false, err
	}
	name, verdict, err := s.verdictOf(ctx, w, ledger.TrialOffer{Commit: commit, Order: order})
	var none *noVerdictError
	switch {
	case errors.As(err, &none):
		s.Voice.Step(w.ID, "accept", "at home: "+none.why)
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	s.Voice.Step(w.ID, "accept", "tested by "+name)
	return checksOf(name, verdict, out), true, nil
}

// trialOf is what a node is to test.
func (s *Session) trialOf(ctx context.Context, w *ledger.Worker, commit git.OID) (trial.Order, error) {
	tree, err := s.Gate.Repo().TreeOf(ctx, commit)
	p := w.Lease.Lease().Policy
	whole, parts := p.AcceptanceOrder()
	return trial.Order{Tree: string(tree), Commands: slices.Concat(whole, parts), Setup: p.Setup, Authors: w.Makers}, err
}

// noVerdictError says why no node has tested a tree.
type noVerdictError struct{ why string }

func (e *noVerdictError) Error() string { return "no node has tested it: " + e.why }

// verdictOf offers a trial and waits for its verdict. Whatever it waits for, it ends.
func (s *Session) verdictOf(ctx context.Context, w *ledger.Worker, o ledger.TrialOffer) (node string, v trial.Verdict, err error) {
	now, err := s.Ledger()
	if err != nil {
		return "", v, err
	}
	if why := s.noTester(now, o.Order); why != "" {
		return "", v, &noVerdictError{why}
	}
	if err := s.Append(w.ID, ledger.TrialOffered, o); err != nil {
		return "", v, err
	}
	s.Voice.Step(w.ID, "accept", worksite.Count(len(o.Order.Commands), "command")+" on the merged tree, offered to another node")
	t, err := s.awaitVerdict(ctx, w.ID, longest(w.Lease.Lease(), s.Now()))
	if err != nil {
		return "", v, err
	}
	if err := believe(t, o); err != nil {
		return "", v, &noVerdictError{fmt.Sprintf("the verdict of %s is refused: %v", t.Grant.Name, err)}
	}
	return t.Grant.Name, *t.Return.Verdict, nil
}

// noTester says why no node can test a tree at the moment, or "".
func (s *Session) noTester(now *ledger.Ledger, o trial.Order) string {
	if !s.HomeRuns() {
		return "the home of the fleet does not run"
	}
	var made []string
	for _, n := range now.Nodes {
		switch {
		case n.Removed:
		case !o.MayTest(n.Key):
			made = append(made, n.Name)
		case !n.Draining:
			return ""
		}
	}
	if len(made) == 0 {
		return "no node is ready"
	}
	return "no node is ready but " + strings.Join(made, ", ") + ", which made the result"
}

const (
	// trialPatience is how long a session waits while no node has a trial: the tests can run here instead.
	trialPatience = 20 * time.Second
	// trialSlack is what the base and the tree of a trial may take beside its commands.
	trialSlack = 10 * time.Minute
	// maxTrialGrants is how many nodes may lose a trial, one after the other.
	maxTrialGrants = 2
)

// longest is how long a node may have a trial: as long as the limits let its commands run, and not after the lease has expired.
func longest(l lease.Lease, now time.Time) time.Duration {
	left := l.Expires.Sub(now)
	p := l.Policy
	if p.Limits.Time == 0 {
		return left
	}
	whole, parts := p.AcceptanceOrder()
	trees := len(parts) + min(len(whole), 1) // setup runs for each
	commands := len(p.Acceptance) + trees*len(p.Setup)
	return min(left, time.Duration(commands)*time.Duration(p.Limits.Time)+trialSlack)
}

// awaitVerdict waits until the verdict of the trial that was just offered is in the journal. It withdraws a trial that no node has
// for a while, that nodes lose, or that takes too long, and fails with noVerdictError.
func (s *Session) awaitVerdict(ctx context.Context, id lease.ID, most time.Duration) (*ledger.Trial, error) {
	wait := trialWait{began: time.Now(), idle: time.Now()}
	for {
		now, err := s.Ledger()
		if err != nil {
			return nil, err
		}
		w, err := now.Find(string(id))
		if err != nil {
			return nil, err
		}
		over, err := ended(w)
		if over || err != nil {
			return w.Trial, err
		}
		if wait.note(w.Trial, s.tests(w.Trial, id)) {
			s.Voice.Step(id, "accept", "it is tested on "+w.Trial.Grant.Name)
		}
		if why := wait.given(now, w.Trial, most); why != "" {
			return nil, cmp.Or(s.withdrawTrial(id, why), error(&noVerdictError{why}))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), s.withdrawTrial(id, "nobody waits for it any more"))
		case <-time.After(lookAgain):
		}
	}
}

// ended reports whether there is a verdict, and fails if there will be none.
func ended(w *ledger.Worker) (bool, error) {
	t := w.Trial
	switch {
	case t == nil || w.Discard != nil || t.Return != nil && t.Grant == nil:
		return false, &noVerdictError{"the trial is gone"}
	case t.Withdrawn != nil:
		return false, &noVerdictError{t.Withdrawn.Why}
	case t.Return != nil && t.Return.Verdict == nil:
		return false, &noVerdictError{fmt.Sprintf("%s could not test it: %s", t.Grant.Name, t.Return.Ending)}
	}
	return t.Return != nil, nil
}

// trialWait is how a trial has been waited for.
type trialWait struct {
	began  time.Time
	idle   time.Time // when a node was last known to have it, or when it was offered
	fence  uint64    // of the newest grant
	grants int
}

// note notes where a trial is, and reports whether another node has it now.
func (t *trialWait) note(at *ledger.Trial, tested bool) (fresh bool) {
	if tested {
		t.idle = time.Now()
	}
	if fresh = at.Grant != nil && at.Fence != t.fence; fresh {
		t.fence = at.Fence
		t.grants++
	}
	return fresh
}

// given is why nobody should wait any longer, or "".
func (t *trialWait) given(now *ledger.Ledger, at *ledger.Trial, most time.Duration) string {
	switch {
	case at.Grant != nil && removed(now, at.Grant.Node):
		return at.Grant.Name + " was removed"
	case t.grants > maxTrialGrants:
		return fmt.Sprintf("%d nodes had it and returned nothing", maxTrialGrants)
	case time.Since(t.idle) > trialPatience:
		return "no other node had it for " + trialPatience.String()
	case time.Since(t.began) > most:
		return "it took too long on a node"
	}
	return ""
}

// tests reports whether a node has a trial and was heard lately: the home says why a trial waits that no living node has.
func (s *Session) tests(t *ledger.Trial, id lease.ID) bool {
	return t.Grant != nil && s.HomeRuns() && s.WaitsInFleet(trial.Name(string(id))) == ""
}

func removed(now *ledger.Ledger, key string) bool {
	return slices.ContainsFunc(now.Nodes, func(n ledger.Node) bool { return n.Key == key && n.Removed })
}

func (s *Session) withdrawTrial(id lease.ID, why string) error {
	return s.Append(id, ledger.TrialWithdrawn, ledger.Withdrawal{Why: why})
}

// believe holds a verdict to what was offered. The home has done so before it took it; the gate does not rely on that.
func believe(t *ledger.Trial, o ledger.TrialOffer) error {
	r := t.Return
	switch {
	case r.Node != t.Grant.Node || r.Fence != t.Fence:
		return errors.New("another node had the trial")
	case r.Base != o.Commit:
		return errors.New("it is about another commit")
	}
	return o.Order.Check(r.Node, *r.Verdict)
}

// checksOf are the checks of a node's verdict, as the gate has them, with what they printed.
func checksOf(node string, v trial.Verdict, out io.Writer) (checks []gate.Check) {
	fmt.Fprintf(out, "acceptance on %s, which says:\n", node)
	for _, c := range v.Checks {
		fmt.Fprintf(out, "$ %s\n%s", c.Command, c.Output)
		checks = append(checks, gate.Check{
			Command: c.Command, Code: c.Code, Ended: legible.PlainLine(c.Ended), Took: c.Took, Output: c.Output, Reused: c.Reused, Node: node,
		})
	}
	return checks
}
