package gate

import (
	"context"
	"runtime"
	"strings"
	"time"

	"cordon/internal/git"
	"cordon/internal/queue/line"
)

// leastSlots is how many results are tested at once on a small machine. Most acceptance waits
// for something else than a processor now and then.
const leastSlots = 4

// waiter takes one result through the queue of its target: it is tested on the tree that the
// target will have when the results ahead of it have landed, and lands when they have. Only
// what was tested lands: the tree is compared, whatever the queue says.
type waiter struct {
	gate  *Gate
	order Order
	tip   git.OID
	place *line.Place

	tested map[git.OID]trial // the last test
	onto   git.OID           // where the target was then
	said   bool              // why the next test is not the first
	at     *proposal         // on the target as it was, if that is what was tested
	start  *proposal         // where the target was on entering, to be used once

	passage Passage // so far
}

// enter puts a result into the queue of its target.
func (g *Gate) enter(ctx context.Context, o Order, tip git.OID) (*waiter, error) {
	l := o.Lease.Lease()
	target, fresh, err := g.start(ctx, o)
	if err != nil {
		return nil, err
	}
	since := time.Now().UTC()
	t := line.Ticket{
		Dir: g.state, Target: l.Target, ID: string(l.ID), Slots: o.Slots,
		Result: line.Result{Base: l.Base, Snapshot: o.Snapshot, Tip: tip, Kept: o.Tip != "" && o.Replay == nil, Since: since},
		Branch: func() (at, tree git.OID, err error) { return g.branch(ctx, o) },
	}
	if !fresh {
		t.Tip = target
	}
	if t.Slots == 0 {
		t.Slots = max(leastSlots, runtime.NumCPU())
	}
	place, err := line.Enter(t)
	return &waiter{gate: g, order: o, tip: tip, place: place, start: &proposal{target: target, fresh: fresh}, passage: Passage{Since: since}}, err
}

// branch is where the target is, with its tree; nothing if it is to be created.
func (g *Gate) branch(ctx context.Context, o Order) (at, tree git.OID, err error) {
	at, fresh, err := g.start(ctx, o)
	if err != nil || fresh {
		return "", "", err
	}
	tree, err = g.repo.TreeOf(ctx, at)
	return at, tree, err
}

// attempt takes the result to its landing. git.ErrMoved: something else landed in between, and
// it is to be tested again.
func (w *waiter) attempt(ctx context.Context) (Result, error) {
	for {
		turn, err := w.place.Next(ctx, w.waits)
		if err != nil {
			return Result{Target: w.order.Lease.Lease().Target}, err
		}
		if turn.Lands {
			return w.land(ctx)
		}
		if turn.Again {
			w.suspected()
		}
		w.passage.Ahead = len(turn.Ahead)
		if len(turn.Ahead) > 0 {
			err = w.behind(ctx, turn)
		} else if res, final, herr := w.head(ctx, turn); final || herr != nil {
			return res, herr
		}
		if err != nil {
			return Result{Target: w.order.Lease.Lease().Target}, err
		}
	}
}

func (w *waiter) waits() {
	w.start = nil // the target moves on meanwhile
	if w.order.Waits != nil {
		w.order.Waits()
		w.order.Waits = nil
	}
}

// suspected counts a failure for which the queue gives a second chance.
func (w *waiter) suspected() {
	why := ""
	for _, t := range w.tested {
		why = whyRejected(t.checks, len(w.order.Lease.Lease().Policy.Acceptance))
		w.order.Failed = t.failed + 1
	}
	w.again(why)
}

// again says why acceptance runs another time.
func (w *waiter) again(why string) {
	if w.said = true; w.order.Again != nil && why != "" && len(w.order.Lease.Lease().Policy.Acceptance) > 0 {
		w.order.Again(why)
	}
}

// restarted says why a result is tested another time that nobody found bad.
func (w *waiter) restarted(target git.OID) {
	if target != w.onto && target != "" && w.onto != "" {
		w.again(strings.TrimPrefix(w.order.Lease.Lease().Target, "refs/heads/") + " moved to " + target.Short())
	} else {
		w.again("the results ahead of it changed")
	}
}

// now is the target as it is, with all of its objects.
func (w *waiter) now(ctx context.Context) (proposal, error) {
	p := proposal{}
	if w.start != nil {
		p, w.start = *w.start, nil
	} else {
		var err error
		if p.target, p.fresh, err = w.gate.start(ctx, w.order); err != nil {
			return p, err
		}
	}
	if p.target == w.order.Lease.Lease().Base {
		return p, nil
	}
	return p, w.gate.host.Complete(ctx, p.target, w.gate.Fetching)
}

// head tests the result on the target as it is. What is wrong with it there is final, unless
// the queue lets it try again.
func (w *waiter) head(ctx context.Context, turn line.Turn) (res Result, final bool, err error) {
	res.Target = w.order.Lease.Lease().Target
	at, err := w.now(ctx)
	if err != nil {
		return res, true, err
	}
	p, err := w.gate.propose(ctx, w.order, w.tip, at.target, at.fresh)
	if err != nil {
		res, err = w.gate.unreplayed(ctx, w.order, w.tip, p.res, err)
		return res, true, err
	}
	if p.decided() {
		res, err = w.decide(ctx, p)
		return res, true, err
	}
	ok := false
	ended, err := w.place.Test(ctx, turn.Run, func(ctx context.Context) (err error) {
		ok, err = w.test(ctx, &p, at.target)
		return err
	})
	switch {
	case ended && ctx.Err() == nil:
		return res, false, nil
	case err != nil:
		return p.res, true, err
	}
	w.at = &p
	bad, err := w.place.Done(turn.Run, ok, p.tree, p.res.Commit)
	return p.res, bad, err
}

// behind tests the result behind others. What is wrong with it there is judged at the head.
func (w *waiter) behind(ctx context.Context, turn line.Turn) error {
	w.at, w.start, w.tested = nil, nil, w.passed()
	ok, tree, commit := false, git.OID(""), git.OID("")
	ended, err := w.place.Test(ctx, turn.Run, func(ctx context.Context) error {
		target, err := w.gate.ahead(ctx, turn)
		if err != nil || target == "" {
			return err
		}
		p, err := w.gate.propose(ctx, w.order, w.tip, target, false)
		if err != nil {
			return err
		}
		tree, commit = p.tree, p.res.Commit
		switch {
		case !p.decided() || p.res.Outcome == Nothing && w.order.Verify:
			ok, err = w.test(ctx, &p, turn.Tip)
		default:
			ok = p.res.Outcome == Nothing
		}
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ended {
		return nil
	}
	_, err = w.place.Done(turn.Run, ok && err == nil, tree, commit)
	return err
}

// test runs acceptance on a proposal, while the target is at a commit.
func (w *waiter) test(ctx context.Context, p *proposal, target git.OID) (bool, error) {
	w.passage.Tests++
	if w.tested = w.passed(); w.tested == nil {
		w.tested = map[git.OID]trial{}
	} else if _, same := w.tested[p.tree]; !same {
		clear(w.tested)
	}
	if w.passage.Tests > 1 && !w.said && len(w.tested) == 0 {
		w.restarted(target)
	}
	w.onto, w.said = target, false
	return w.gate.accept(ctx, w.order, p, w.tested)
}

// passed is the last test, unless it failed: that one is repeated.
func (w *waiter) passed() map[git.OID]trial {
	for _, t := range w.tested {
		if whyRejected(t.checks, len(w.order.Lease.Lease().Policy.Acceptance)) != "" {
			return nil
		}
	}
	return w.tested
}

// decide ends a result that is not to be tested.
func (w *waiter) decide(ctx context.Context, p proposal) (Result, error) {
	var err error
	switch {
	case p.res.Outcome == Conflict:
		p.res.Commit, err = w.gate.keepAside(ctx, w.order, w.tip)
	case p.res.Outcome == Nothing && w.order.Verify:
		_, err = w.test(ctx, &p, p.target)
	}
	return p.res, err
}

// land lands the result, if the target is what it was tested with.
func (w *waiter) land(ctx context.Context) (Result, error) {
	res := Result{Target: w.order.Lease.Lease().Target}
	p := w.at
	if w.at = nil; p == nil { // it was tested behind others, which have landed
		at, err := w.now(ctx)
		if err != nil {
			return res, err
		}
		again, err := w.gate.propose(ctx, w.order, w.tip, at.target, at.fresh)
		if err != nil {
			return w.gate.unreplayed(ctx, w.order, w.tip, again.res, err)
		}
		if again.decided() && !(again.res.Outcome == Nothing && w.order.Verify) {
			return w.decide(ctx, again)
		}
		p = &again
		if _, known := w.tested[p.tree]; !known && len(w.order.Lease.Lease().Policy.Acceptance) > 0 {
			return res, git.ErrMoved
		}
		if ok, err := w.gate.accept(ctx, w.order, p, w.tested); err != nil || !ok || again.decided() {
			return p.res, err
		}
	}
	return w.move(ctx, *p)
}

// move takes the last steps. The queue of a branch lets one result at a time do so.
func (w *waiter) move(ctx context.Context, p proposal) (Result, error) {
	o := w.order
	if o.Failed = p.res.Retries; o.Failed > 0 { // the same tree, with a message that says so
		var err error
		if p.res.Commit, err = w.gate.commit(ctx, o, p.tree, p.target, w.tip, nil); err != nil {
			return p.res, err
		}
	}
	res, err := w.gate.guarded(ctx, o, p.tree, w.tip, Landing{Ref: p.res.Target, Old: p.target, Creates: p.fresh}, p.res)
	if err == nil && res.Outcome == Merged {
		w.place.Landed(res.Commit)
	}
	return res, err
}

// ahead is the commit that the target would have if the results of a turn landed. "": one of
// them does not fit, and will not.
func (g *Gate) ahead(ctx context.Context, t line.Turn) (git.OID, error) {
	at := t.Tip
	if at == "" {
		at = t.Ahead[0].Base
	}
	if t.Made != "" {
		at = t.Made
	}
	if t.Tip != "" {
		if err := g.host.Complete(ctx, t.Tip, g.Fetching); err != nil {
			return "", err
		}
	}
	for _, r := range t.Ahead[t.Of:] {
		merge, err := g.merge(ctx, r.Base, at, r.Snapshot, r.Tip)
		if err != nil || len(merge.Conflicts) > 0 {
			return "", err
		}
		parents := []git.OID{at}
		if r.Kept {
			parents = append(parents, r.Tip)
		}
		who := git.Person{Name: "cordon", Email: "cordon@localhost"}
		if at, err = g.repo.CommitTree(ctx, merge.Tree, parents, "the target with results that wait\n", who); err != nil {
			return "", err
		}
	}
	return at, nil
}
