package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/follow"
	"cordon/internal/git"
	"cordon/internal/githook"
	"cordon/internal/lease"
	"cordon/internal/message"
	"cordon/internal/plan"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// Order is a result that wants to land.
type Order struct {
	Lease    lease.Sealed
	Snapshot git.OID // the audited tree, as a commit on the base
	Judged   git.OID // is merged instead: the base shows it with older instructions, and the worker changed nothing; "" for none
	Tip      git.OID // the worker's own last commit, to be kept as history; "" for none
	History  git.Repo
	Replay   []git.OID // the worker's commits in a line up to Tip, to land one by one without a merge
	Index    string    // a file with an index of the base; "" for none
	Entry    string    // journal entry of the audit, for the trailer
	Message  message.Message
	Author   policy.Identity
	// Committer is the operator. The zero value: cordon.
	Committer policy.Identity
	CoAuthor  string // value of a trailer; "" for none
	// Signer finds what signs the commit that lands, once it is accepted. nil: it is not signed.
	Signer func() (*git.Signer, error)
	// Hooks are the operator's own that guard the target. nil: none run.
	Hooks   *githook.Hooks
	Creates bool // the target, if it does not exist
	// Slots is how many results of one branch are tested at once; 0: as many as there are
	// processors, and at least four.
	Slots int
	// Failed is how often acceptance of this result has failed before.
	Failed int
	// Verify: acceptance runs on the target even if the result changes nothing.
	Verify bool
	// Conflicts are the files that the worker was to resolve.
	Conflicts []audit.Path
	// Artifacts are files that the merged tree must have.
	Artifacts []plan.Artifact
	// AcceptFailed: the operator lands the result although acceptance fails.
	AcceptFailed bool
	// Accept runs the acceptance commands on a commit.
	Accept func(ctx context.Context, commit git.OID) ([]Check, error)
	// Intend is called before the target moves, and must be durable.
	Intend func(Landing) error
	// Retry is called before failed acceptance runs again by itself; nil for nobody.
	Retry func(why string, left int)
	// Again is called before acceptance runs another time because a result failed, the target moved or the
	// results ahead are others, with the reason; nil for nobody.
	Again func(why string)
	// Waits is called when other results are to land first; nil for nobody.
	Waits func()

	reword func(text string) (string, error) // what a hook makes of a message; nil: nothing
}

// Landing is a move of the target branch.
type Landing struct {
	Ref       string         `json:"ref"`
	Old       git.OID        `json:"old"`
	New       git.OID        `json:"new"`
	Checkouts []git.Checkout `json:"checkouts,omitempty"` // that follow the branch
	// Creates: the branch does not exist before, and Old is the commit that it begins at.
	Creates bool `json:"+creates,omitempty"`
	// Then is the operator's command that is due when the branch has moved, as their
	// configuration had it; nothing: none.
	Then []string `json:"+then,omitempty"`
}

// tries bounds how often a moving target is chased.
const tries = 10

// Land takes a clean result to the target branch, through the queue of that branch.
func (g *Gate) Land(ctx context.Context, o Order) (Result, error) {
	tip, err := g.bringHistory(ctx, o)
	if err != nil {
		return Result{}, err
	}
	w, err := g.enter(ctx, o, tip)
	if err != nil {
		return Result{Target: o.Lease.Lease().Target}, err
	}
	defer w.place.Leave()
	for range tries {
		res, err := w.attempt(ctx)
		res.Queue = &w.passage
		if !errors.Is(err, git.ErrMoved) {
			return res, err
		}
		if err := w.place.Moved(); err != nil {
			return res, err
		}
	}
	w.place.Leave()
	return g.giveUp(ctx, o, tip)
}

// giveUp leaves a result whose target does not hold still to a person. Nothing is
// wrong with it.
func (g *Gate) giveUp(ctx context.Context, o Order, tip git.OID) (Result, error) {
	target := o.Lease.Lease().Target
	res := Result{Outcome: Waiting, Target: target}
	res.Why = fmt.Sprintf("%s moved %d times while the result was merged and tested", strings.TrimPrefix(target, "refs/heads/"), tries)
	var err error
	res.Commit, err = g.keepAside(ctx, o, tip)
	return res, err
}

// bringHistory returns the commit to merge: the snapshot, or the worker's own
// commits with the snapshot on top.
func (g *Gate) bringHistory(ctx context.Context, o Order) (git.OID, error) {
	if o.Tip == "" {
		return cmp.Or(o.Judged, o.Snapshot), nil
	}
	base := o.Lease.Lease().Base
	if ok, err := o.History.IsAncestor(ctx, base, o.Tip); err != nil || !ok {
		return "", errors.Join(err, errors.New("the worker's commits do not build on the base: land the tree without --keep-history"))
	}
	if err := o.History.SendForeign(ctx, g.repo, []git.OID{o.Tip}, []git.OID{base}); err != nil {
		return "", fmt.Errorf("the worker's commits cannot be kept as history: %w", err)
	}
	tree, err := g.repo.TreeOf(ctx, o.Snapshot)
	if err != nil {
		return "", err
	}
	theirs, err := g.repo.TreeOf(ctx, o.Tip)
	if err != nil || tree == theirs {
		return o.Tip, err
	}
	text := "Uncommitted work of " + string(o.Lease.Lease().ID) + "\n"
	return g.repo.CommitTree(ctx, tree, []git.OID{o.Tip}, text, git.Person(o.Author))
}

// proposal is a result merged with what the target has, or will have.
type proposal struct {
	res    Result
	tree   git.OID
	target git.OID
	fresh  bool // the target is to be created
	// changes are what the target gets.
	changes []audit.Finding
}

// decided reports whether there is nothing to test: the proposal does not land, or need not.
func (p proposal) decided() bool { return p.res.Outcome != "" }

// propose merges a result into a commit and holds it against the lease again.
func (g *Gate) propose(ctx context.Context, o Order, tip, target git.OID, fresh bool) (proposal, error) {
	l := o.Lease.Lease()
	p := proposal{res: Result{Target: l.Target}, target: target, fresh: fresh}
	merge, err := g.merge(ctx, l.Base, target, o.Snapshot, tip)
	if err != nil {
		return p, err
	}
	if len(merge.Conflicts) > 0 {
		p.res.Outcome, p.res.Paths = Conflict, paths(merge.Conflicts)
		return p, nil
	}
	if p.res.Paths, p.res.Why, err = g.unresolved(ctx, o, target, merge.Tree); err != nil || len(p.res.Paths) > 0 {
		p.res.Outcome = Conflict
		return p, err
	}
	p.tree = merge.Tree
	targetTree, err := g.repo.TreeOf(ctx, target)
	if err != nil {
		return p, err
	}
	if merge.Tree == targetTree {
		p.res.Outcome, p.res.Commit = Nothing, target
		return p, nil
	}
	if p.changes, p.res.Findings, err = g.recheck(ctx, target, merge.Tree, o.Lease.Rules()); err != nil || len(p.res.Findings) > 0 {
		p.res.Outcome = Violating
		return p, err
	}
	p.res.Commit, err = g.commit(ctx, o, merge.Tree, target, tip, nil)
	return p, err
}

// start is the commit that a result lands on: the tip of the target, or the base for a
// branch that is to be created.
func (g *Gate) start(ctx context.Context, o Order) (at git.OID, fresh bool, err error) {
	l := o.Lease.Lease()
	at, err = g.tip(ctx, l.Target)
	if !o.Creates || !errors.Is(err, git.ErrNoRef) {
		return at, false, err
	}
	if symbolic, err := g.host.IsSymbolic(ctx, l.Target); err != nil || symbolic {
		return "", false, errors.Join(err, fmt.Errorf("%s is a symbolic ref to a branch that does not exist: cordon does not replace it", l.Target))
	}
	return l.Base, true, nil
}

// tip is where the target branch is. A symbolic ref in its place is refused:
// moving it would either replace it or move another branch.
func (g *Gate) tip(ctx context.Context, target string) (git.OID, error) {
	refs, err := g.host.Refs(ctx, target)
	if err != nil {
		return "", err
	}
	for _, r := range refs {
		if r.Name == target && r.Symref != "" {
			return "", fmt.Errorf("%s is a symbolic ref to %s: name that with --target", target, r.Symref)
		}
	}
	return g.host.Ref(ctx, target)
}

// keepAside stores what the worker did as a commit on its base, for a person to
// merge.
func (g *Gate) keepAside(ctx context.Context, o Order, tip git.OID) (git.OID, error) {
	l := o.Lease.Lease()
	tree, err := g.repo.TreeOf(ctx, o.Snapshot)
	if err != nil {
		return "", err
	}
	commit, err := g.commit(ctx, o, tree, l.Base, tip, nil)
	if err != nil {
		return "", err
	}
	if err := g.sendContent(ctx, l.ID, l.Base, commit); err != nil {
		return "", err
	}
	return commit, g.keep(ctx, l.ID, ResultOf(l.ID), commit, l.Base)
}

// merge is the tree that the target gets. A target that did not move needs no
// merging.
func (g *Gate) merge(ctx context.Context, base, target, snapshot, tip git.OID) (git.Merge, error) {
	if base == target {
		tree, err := g.repo.TreeOf(ctx, snapshot)
		return git.Merge{Tree: tree}, err
	}
	return g.repo.MergeTrees(ctx, target, tip)
}

// recheck lists what a merged tree changes, and what of it the lease does not allow.
func (g *Gate) recheck(ctx context.Context, target, tree git.OID, rules policy.Rules) (all, bad []audit.Finding, err error) {
	all, err = audit.Merged(ctx, g.repo, target, tree, rules)
	for _, f := range all {
		if f.Class != audit.Landing {
			f.Source = "merged tree"
			bad = append(bad, f)
		}
	}
	return all, bad, err
}

// tryCheckout makes sure that a commit that is to land can be checked out.
func (g *Gate) tryCheckout(ctx context.Context, o Order, commit git.OID) error {
	dir := g.state.Acceptance(string(o.Lease.Lease().ID) + ".trial")
	if err := g.state.Erase(dir); err != nil { // of an attempt that was interrupted
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	err := g.repo.Trial(ctx, o.Lease.Lease().Base, commit, o.Index, dir)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the result cannot be checked out: %w", said{err})
	}
	return errors.Join(err, g.state.Erase(dir))
}

// land moves the target under the gate's lock.
func (g *Gate) land(ctx context.Context, o Order, move Landing, res Result) (Result, error) {
	release, err := g.state.Await(ctx, state.GateLock)
	if err != nil {
		return res, err
	}
	defer release()
	// The swap below decides; this spares work and words that would be for
	// nothing.
	now, fresh, err := g.start(ctx, o)
	if err != nil {
		return res, err
	}
	if now != move.Old || fresh != move.Creates {
		return res, git.ErrMoved
	}
	id := o.Lease.Lease().ID
	if err := g.sendContent(ctx, id, move.Old, res.Commit); err != nil {
		return res, err
	}
	if err := g.keep(ctx, id, ResultOf(id), res.Commit, move.Old); err != nil {
		return res, err
	}
	steps, why, err := g.prepare(ctx, move)
	defer g.drop(steps)
	if err != nil {
		return res, err
	}
	if why != nil {
		return wait(res, why), nil
	}
	for _, s := range steps {
		move.Checkouts = append(move.Checkouts, s.Checkout)
	}
	if err := o.Intend(move); err != nil {
		return res, err
	}
	return g.finish(ctx, move, steps, res)
}

// finish moves the branch and its checkouts: the branch is locked with its old value
// verified, the checkouts get their files and indexes, and then the branch moves, while
// the indexes are locked. From then on the result is merged.
func (g *Gate) finish(ctx context.Context, move Landing, ready steps, res Result) (Result, error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	// An interrupt between the branch and its checkouts would leave them apart.
	ctx = context.WithoutCancel(ctx)
	old := move.Old
	if move.Creates {
		old = g.host.Format.Zero()
	}
	ref, err := g.host.PrepareRef(ctx, move.Ref, move.New, old, "cordon: land", ready.locks()...)
	if err != nil {
		return waits(res, err)
	}
	// HEAD is locked by now. Before, somebody could switch to another branch without the
	// lock of the index.
	why, err := g.look(ctx, move, ready)
	var behind error
	if why == nil && err == nil {
		behind, err = g.carry(ctx, move, ready)
	}
	if why != nil || err != nil {
		ref.Abort()
		return waits(wait(res, why), err)
	}
	if err := ref.Commit(); err != nil {
		landed, aerr := g.contains(ctx, move.move())
		if aerr != nil {
			return res, g.leave(ready, errors.Join(err, aerr))
		}
		if !landed {
			return res, errors.Join(err, g.takeBack(ctx, ready))
		}
	}
	res.Outcome = Merged
	var left *LeftBehindError
	err = worse(behind, g.release(ctx, move, ready))
	if errors.As(err, &left) {
		res.Checkout, res.Why = left.Checkout, left.Error()
		return res, nil
	}
	return res, err
}

// waits turns an error that is about the operator's repository, and not about the result,
// into a result that waits for a person.
func waits(res Result, err error) (Result, error) {
	var unplaced *follow.UnplacedError
	var locked *git.RefLockedError
	var unfinished *UnfinishedError
	switch {
	case errors.As(err, &unfinished):
	case errors.As(err, &unplaced):
		return wait(res, unplaced), nil
	case errors.As(err, &locked):
		return wait(res, fmt.Errorf("%s is locked: %w", strings.TrimPrefix(res.Target, "refs/heads/"), locked)), nil
	}
	return res, err
}

// wait is a result that waits for a reason.
func wait(res Result, why error) Result {
	if why == nil {
		return res
	}
	res.Outcome, res.Why = Waiting, why.Error()
	var busy *busyError
	var blocked *blockedError
	switch {
	case errors.As(why, &busy):
		res.Busy = true
	case errors.As(why, &blocked):
		res.InTheWay = blocked.uncommitted()
	}
	return res
}

func paths(list []string) []audit.Path {
	var out []audit.Path
	for _, p := range list {
		out = append(out, audit.Path(p))
	}
	return out
}
