package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// enclose is the cell of a worker, or nil when its policy wants none.
func (s *Session) enclose(ctx context.Context, sealed lease.Sealed) (*cell.Order, error) {
	l := sealed.Lease()
	e := worktree.Enclosure{Write: []string{l.Worktree}, Tree: l.Worktree, Layers: s.State.Layers(string(l.ID))}
	if l.Tree == lease.Layered {
		b, err := s.base(ctx, l.ID, l.Base)
		if err != nil {
			return nil, err
		}
		e.Write, e.Over = nil, worktree.Over(l.Worktree, b.Layers, b.Index)
		e.GitDir = filepath.Join(l.Worktree, ".git")
		return s.order(ctx, sealed, e)
	}
	if l.Adopted {
		shadow := worktree.Shadow{Dir: s.State.Shadow(string(l.ID))}
		binds, err := shadow.Binds(l.Worktree)
		if err != nil {
			return nil, err
		}
		hazards, err := worktree.FindHazards(e.Write, filepath.Join(l.Worktree, ".git"))
		if err != nil {
			return nil, &RefusedError{err}
		}
		e.Fixed, e.Held, e.Sockets = hazards.Linked, hazards.Repositories, hazards.Sockets
		for _, rel := range l.Executed { // the operator's git runs or reads it, in this very checkout
			if at := filepath.Join(l.Worktree, filepath.FromSlash(rel)); exists(at) {
				hold(&e, at)
			}
		}
		modules, err := shadow.Submodules(s.Host, l.Worktree, hazards.Repositories)
		if err != nil {
			return nil, err
		}
		e.Bind, e.GitDir = append(binds, modules...), seenAt(binds)
		return s.order(ctx, sealed, e)
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

// prepareAdopted gives a worker in a checkout of another tool's a repository of
// its own: the host's is not written.
func (s *Session) prepareAdopted(ctx context.Context, w *ledger.Worker) error {
	l := w.Lease.Lease()
	if l.Policy.Isolation != policy.None {
		c, err := s.linked(ctx, l.Worktree)
		if err != nil {
			return err
		}
		branch := strings.TrimPrefix(c.Branch, "refs/heads/")
		if branch == "" {
			branch = l.Branch
		}
		dir := s.State.Shadow(string(l.ID))
		if err := s.State.Erase(dir); err != nil { // no worker has seen it
			return err
		}
		unseen, err := s.unseenBy(ctx, w.Lease)
		if err != nil {
			return err
		}
		_, err = worktree.MakeShadow(ctx, worktree.ShadowOrder{
			Bin: s.Bin, Host: s.Host, GitDir: c.GitDir, Alternate: s.State.Objects(),
			Commit: c.Head, Branch: branch, Dir: dir, Unseen: unseen,
		})
		if err != nil {
			return err
		}
	}
	return s.append(w.ID, ledger.Prepared, ledger.Tree{})
}

// order completes an enclosure with what is the same for all.
func (s *Session) order(ctx context.Context, sealed lease.Sealed, e worktree.Enclosure) (*cell.Order, error) {
	return s.orderBy(ctx, sealed.Lease(), sealed.Rules(), e)
}

func (s *Session) orderBy(ctx context.Context, l lease.Lease, rules policy.Rules, e worktree.Enclosure) (*cell.Order, error) {
	if l.Policy.Isolation == policy.None {
		return nil, nil
	}
	e.Policy, e.Rules, e.Home = l.Policy, rules, l.Home
	all, err := s.Host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	e.Host = hostPlaces(s.Host, all)
	return completeOrder(e, s.Host, s.State)
}

func completeOrder(e worktree.Enclosure, host git.Host, place state.Dir) (*cell.Order, error) {
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	e.State = []string{root}
	e.Secret = []string{filepath.Join(place.Path(), journal.File), filepath.Join(host.Dir, "HEAD")}
	objects, err := worktree.ObjectBinds(host, place.Objects())
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
