package workspace

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// MergedTree is the tree of a commit that is to land, for commands of the policy.
type MergedTree struct {
	Top    string
	layers string      // what is written privately
	over   []cell.Over // where it is copied on write
	base   []string    // what it lies on then
	cache  lease.Cache
	commit git.OID
	setup  *Prepared // what setup commands left for it; nil: nothing
	made   time.Time
	Leave  func()
}

// MakeMergedTree makes the tree with a number, of the kind that the worker's was.
func MakeMergedTree(
	ctx context.Context, s *worksite.Site, w *ledger.Worker, commit git.OID, number int, setup *Prepared,
) (MergedTree, error) {
	l := w.Lease.Lease()
	t := MergedTree{
		Top: s.State.Acceptance(string(w.ID)), layers: filepath.Join(s.AcceptLayers(w.ID), strconv.Itoa(number)),
		cache: acceptanceCaches(ctx, s, l, commit), commit: commit, setup: setup, Leave: func() {},
	}
	if worksite.Layered(w) {
		if l.Worktree == s.State.Seen() {
			t.Top = s.State.SeenAccepted()
		}
		return makeMergedLayers(ctx, s, w.Lease, commit, t)
	}
	partial := t.Top + ".new"
	for _, d := range []string{t.Top, partial} {
		if err := s.State.Erase(d); err != nil { // left by an interrupted attempt
			return t, err
		}
	}
	repo := s.Gate.Repo()
	plan, err := fillMerged(ctx, s, w.Lease, repo, commit)
	if err != nil {
		return t, err
	}
	o := worktree.Order{
		Bin: s.Bin, Host: s.Host, Source: repo, Alternate: repo.ObjectsDir(),
		Commit: commit, Branch: w.Lease.Lease().Branch, Partial: partial, Path: t.Top, Hidden: w.Lease.Rules().Unseen, Fill: plan.Into,
	}
	if o.From, err = snapshotSource(ctx, s, w.ID, o); err != nil {
		return t, err
	}
	if _, err = makePlain(ctx, s, o); err == nil && setup != nil {
		err = setup.copyInto(ctx, w.Lease, t.Top)
	}
	// A tree that stays behind is erased by the next attempt or by gc.
	if setup != nil || len(l.Policy.Setup) == 0 {
		t.Leave = func() { _ = s.State.Drop(t.Top, s.Now()) }
	}
	return t, err
}

// rulesAt is the policy of a lease for a tree elsewhere than the worker's.
func rulesAt(l lease.Lease, top string) (policy.Rules, error) {
	return policy.Compile(l.Policy, policy.Location{Worktree: top, Home: l.Home, Fold: l.Fold})
}

// makeMergedLayers makes the layers of such a tree; deliver takes them away. Its base is
// the next worker's.
func makeMergedLayers(ctx context.Context, s *worksite.Site, sealed lease.Sealed, commit git.OID, t MergedTree) (MergedTree, error) {
	l, repo := sealed.Lease(), s.Gate.Repo()
	plan, err := fillMerged(ctx, s, sealed, repo, commit)
	if err != nil {
		return t, err
	}
	rules, err := rulesAt(l, t.Top)
	if err != nil {
		return t, err
	}
	b, err := s.BaseOf(ctx, l.ID, commit)
	if err != nil {
		return t, err
	}
	l.Cache = t.cache
	below, err := treeLayers(s, l, b.Layers)
	if err != nil {
		return t, err
	}
	if t.setup != nil {
		below = append([]string{t.setup.files()}, below...)
	}
	hidden, err := enclosure.Hides(rules.Hidden(), t.Top, below)
	if err != nil {
		return t, err
	}
	young, err := renewed(ctx, s, repo, l.Cache, commit)
	if err != nil {
		return t, err
	}
	_, err = worktree.MakeLayered(ctx, worktree.LayerOrder{
		Bin: s.Bin, Host: s.Host, Source: repo, Alternate: repo.ObjectsDir(),
		Commit: commit, Branch: l.Branch, Below: below, Files: b.Files, Roots: []string{"."},
		Hidden: hidden, Index: b.Index, Fill: plan.Into, Renewed: young, Partial: t.layers + "-new", Path: t.layers,
	})
	t.over, t.base, t.made = enclosure.LayeredTree(t.Top, below, b.Index), b.Layers, s.Now()
	return t, err
}

// Enclose is the cell of acceptance commands: a worker's code runs in it, but nothing
// else that the worker wrote is there.
func (t MergedTree) Enclose(ctx context.Context, s *worksite.Site, sealed lease.Sealed) (*cell.Order, error) {
	objects := s.Gate.Repo().ObjectsDir()
	e := enclosure.Enclosure{
		Write: []string{t.Top}, Layers: t.layers, Tree: t.Top,
		GitDir: audit.GitDir(t.Top), Bind: []cell.Bind{{From: objects, At: objects}},
		Whole: true, // what is not seen is not tested
	}
	if t.over != nil {
		e.Write, e.Over = nil, t.over
	}
	l := sealed.Lease()
	l.Cache = t.cache
	if err := caches(s, l, false, &e); err != nil {
		return nil, err
	}
	rules, err := rulesAt(l, t.Top)
	if err != nil {
		return nil, err
	}
	o, err := enclosure.OrderFor(ctx, s.Host, s.State, sealed.Lease(), rules, e)
	if o != nil && t.setup != nil && (t.over != nil || l.Policy.Isolation == policy.Strict) { // an overlay shows it
		o.Kept = t.setup.dir
	}
	return o, err
}
