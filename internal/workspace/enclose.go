package workspace

import (
	"context"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// Enclose is the cell of a worker, or nil when its policy wants none.
func Enclose(ctx context.Context, s *worksite.Site, sealed lease.Sealed) (*cell.Order, error) {
	return enclose(ctx, s, sealed, false)
}

// EncloseSetup is the cell of the commands that prepare its tree: that of the worker
// without the caches of others.
func EncloseSetup(ctx context.Context, s *worksite.Site, sealed lease.Sealed) (*cell.Order, error) {
	return enclose(ctx, s, sealed, true)
}

func enclose(ctx context.Context, s *worksite.Site, sealed lease.Sealed, fresh bool) (*cell.Order, error) {
	l := sealed.Lease()
	e := enclosure.Enclosure{Write: []string{l.Worktree}, Tree: l.Worktree, Layers: s.State.Layers(string(l.ID))}
	if l.Tree == lease.Layered {
		b, err := s.BaseOf(ctx, l.ID, l.Base)
		if err != nil {
			return nil, err
		}
		below, err := treeLayers(s, l, b.Layers)
		if err != nil {
			return nil, err
		}
		if err := caches(s, l, fresh, &e); err != nil {
			return nil, err
		}
		e.Write, e.Over = nil, enclosure.LayeredTree(l.Worktree, below, b.Index)
		e.GitDir = filepath.Join(l.Worktree, ".git")
		return order(ctx, s, sealed, e)
	}
	if l.Adopted {
		return confine.EncloseAdopted(ctx, s, sealed, e)
	}
	e.GitDir = filepath.Join(l.Worktree, ".git")
	if own := s.OwnGit(l.ID); worksite.Exists(own) {
		e.Bind = []cell.Bind{{From: own, At: e.GitDir, Write: true}}
	} else {
		e.Pinned = []string{e.GitDir}
	}
	return order(ctx, s, sealed, e)
}

// order completes an enclosure with what is the same for all.
func order(ctx context.Context, s *worksite.Site, sealed lease.Sealed, e enclosure.Enclosure) (*cell.Order, error) {
	return enclosure.OrderFor(ctx, s.Host, s.State, sealed.Lease(), sealed.Rules(), e)
}
