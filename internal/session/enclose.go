package session

import (
	"context"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// enclose is the cell of a worker, or nil when its policy wants none.
func (s *Session) enclose(ctx context.Context, sealed lease.Sealed) (*cell.Order, error) {
	l := sealed.Lease()
	e := enclosure.Enclosure{Write: []string{l.Worktree}, Tree: l.Worktree, Layers: s.State.Layers(string(l.ID))}
	if l.Tree == lease.Layered {
		b, err := s.base(ctx, l.ID, l.Base)
		if err != nil {
			return nil, err
		}
		e.Write, e.Over = nil, enclosure.LayeredTree(l.Worktree, b.Layers, b.Index)
		e.GitDir = filepath.Join(l.Worktree, ".git")
		return s.order(ctx, sealed, e)
	}
	if l.Adopted {
		return s.encloseAdopted(ctx, sealed, e)
	}
	e.GitDir = filepath.Join(l.Worktree, ".git")
	if own := s.ownGit(l.ID); exists(own) {
		e.Bind = []cell.Bind{{From: own, At: e.GitDir, Write: true}}
	} else {
		e.Pinned = []string{e.GitDir}
	}
	return s.order(ctx, sealed, e)
}

// seenAt is where a shadow is seen in the cell.
func seenAt(binds []cell.Bind) string {
	for _, b := range binds {
		if b.Write {
			return b.At
		}
	}
	return ""
}

// acceptLayers is where acceptance commands write privately.
func (s *Session) acceptLayers(id lease.ID) string { return s.State.Layers(string(id) + ".accept") }

// order completes an enclosure with what is the same for all.
func (s *Session) order(ctx context.Context, sealed lease.Sealed, e enclosure.Enclosure) (*cell.Order, error) {
	return orderBy(ctx, s.Host, s.State, sealed.Lease(), sealed.Rules(), e)
}

// orderBy completes an enclosure for a lease by rules that need not be its own. It is nil
// when the policy wants no cell.
func orderBy(ctx context.Context, host git.Host, place state.Dir, l lease.Lease, rules policy.Rules, e enclosure.Enclosure) (*cell.Order, error) {
	if l.Policy.Isolation == policy.None {
		return nil, nil
	}
	e.Policy, e.Rules, e.Home = l.Policy, rules, l.Home
	all, err := host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	e.Host = hostPlaces(host, all)
	return completeOrder(e, host, place)
}

func completeOrder(e enclosure.Enclosure, host git.Host, place state.Dir) (*cell.Order, error) {
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	e.State = []string{root}
	e.Secret = []string{filepath.Join(place.Path(), journal.File), filepath.Join(host.Dir, "HEAD")}
	objects, err := enclosure.ObjectBinds(host, place.Objects())
	if err != nil {
		return nil, err
	}
	e.Bind = append(e.Bind, objects...)
	if e.Layers != "" {
		if err := os.MkdirAll(e.Layers, 0o700); err != nil {
			return nil, err
		}
	}
	o, err := e.Order()
	return &o, err
}

// hostPlaces are the git directory and every checkout of the host.
func hostPlaces(host git.Host, all []git.Checkout) []string {
	list := []string{host.Dir, host.Top}
	for _, c := range all {
		list = append(list, c.Top, c.GitDir)
	}
	var real []string
	for _, p := range list {
		if r, err := filepath.EvalSymlinks(p); err == nil && p != "" {
			real = append(real, r)
		}
	}
	return real
}
