package session

import (
	"context"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worktree"
)

// mergedTree is the tree of a commit that is to land, for acceptance commands.
type mergedTree struct {
	top   string
	over  []cell.Over // where it is copied on write
	leave func()
}

// merged makes one, of the kind that the worker's was.
func (s *Session) merged(ctx context.Context, w *ledger.Worker, commit git.OID) (mergedTree, error) {
	t := mergedTree{top: s.State.Acceptance(string(w.ID)), leave: func() {}}
	layers := s.acceptLayers(w.ID)
	for _, d := range []string{layers, layers + "-new"} { // of an attempt before this one
		if err := s.State.Erase(d); err != nil {
			return t, err
		}
	}
	if layered(w) {
		return s.mergedLayers(ctx, w.Lease, commit, t)
	}
	partial := t.top + ".new"
	for _, d := range []string{t.top, partial} {
		if err := s.State.Erase(d); err != nil { // left by an interrupted attempt
			return t, err
		}
	}
	repo := s.gate.Repo()
	o := worktree.Order{
		Bin: s.Bin, Host: s.Host, Source: repo, Alternate: repo.ObjectsDir(),
		Commit: commit, Branch: w.Lease.Lease().Branch, Partial: partial, Path: t.top, Hidden: w.Lease.Rules().Unseen,
	}
	var err error
	if o.From, err = s.prepared(ctx, w.ID, o); err != nil {
		return t, err
	}
	_, err = s.makePlain(ctx, o)
	// A tree that stays behind is erased by the next attempt or by gc.
	t.leave = func() { _ = s.State.Drop(t.top, s.Now()) }
	return t, err
}

// rulesAt is the policy of a lease for a tree elsewhere than the worker's.
func rulesAt(l lease.Lease, top string) (policy.Rules, error) {
	return policy.Compile(l.Policy, policy.Location{Worktree: top, Home: l.Home, Fold: l.Fold})
}

// mergedLayers makes the layers of such a tree; deliver takes them away. Its base is
// the next worker's.
func (s *Session) mergedLayers(ctx context.Context, sealed lease.Sealed, commit git.OID, t mergedTree) (mergedTree, error) {
	l, repo, path := sealed.Lease(), s.gate.Repo(), s.acceptLayers(sealed.Lease().ID)
	if err := s.refuseFilters(ctx, repo, commit); err != nil {
		return t, err
	}
	rules, err := rulesAt(l, t.top)
	if err != nil {
		return t, err
	}
	b, err := s.base(ctx, l.ID, commit)
	if err != nil {
		return t, err
	}
	hidden, err := enclosure.Hides(rules.Hidden(), t.top, b.Layers)
	if err != nil {
		return t, err
	}
	_, err = worktree.MakeLayered(ctx, worktree.LayerOrder{
		Bin: s.Bin, Host: s.Host, Source: repo, Alternate: repo.ObjectsDir(),
		Commit: commit, Branch: l.Branch, Below: b.Layers, Files: b.Files, Roots: []string{"."},
		Hidden: hidden, Partial: path + "-new", Path: path,
	})
	t.over = enclosure.LayeredTree(t.top, b.Layers, b.Index)
	return t, err
}

// enclose is the cell of acceptance commands: a worker's code runs in it, but nothing
// else that the worker wrote is there.
func (t mergedTree) enclose(ctx context.Context, s *Session, sealed lease.Sealed) (*cell.Order, error) {
	objects := s.gate.Repo().ObjectsDir()
	e := enclosure.Enclosure{
		Write: []string{t.top}, Layers: s.acceptLayers(sealed.Lease().ID), Tree: t.top,
		GitDir: audit.GitDir(t.top), Bind: []cell.Bind{{From: objects, At: objects}},
		Whole: true, // what is not seen is not tested
	}
	if t.over != nil {
		e.Write, e.Over = nil, t.over
	}
	rules, err := rulesAt(sealed.Lease(), t.top)
	if err != nil {
		return nil, err
	}
	return orderBy(ctx, s.Host, s.State, sealed.Lease(), rules, e)
}
