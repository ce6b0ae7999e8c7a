package gate

import (
	"context"
	"fmt"
	"os"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/lfs"
)

// Handed is the store of the Git LFS content that a worker handed in. It reaches the
// host's store when a commit that points to it does.
func (g *Gate) Handed(id lease.ID) lfs.Store {
	return lfs.Store{Dir: g.state.Handed(string(id))}
}

// sendContent stores the Git LFS content that a commit points to and a worker handed in,
// before the host gets the commit.
func (g *Gate) sendContent(ctx context.Context, id lease.ID, from, commit git.OID) error {
	handed := g.Handed(id)
	if _, err := os.Lstat(handed.Dir); err != nil {
		return nil // it handed in nothing
	}
	deltas, err := g.repo.Diff(ctx, from, commit)
	if err != nil {
		return err
	}
	var oids []git.OID
	for _, d := range deltas {
		if d.New.Mode == git.Regular || d.New.Mode == git.Executable {
			oids = append(oids, d.New.OID)
		}
	}
	pointers, err := lfs.Pointers(ctx, g.repo, oids)
	if err != nil {
		return err
	}
	host, err := lfs.HostStore(ctx, g.host.Repo)
	if err != nil {
		return err
	}
	for _, p := range pointers {
		if !handed.Has(p) {
			continue // the operator's, and not changed
		}
		if err := handed.Send(p, host); err != nil {
			return fmt.Errorf("the content of a Git LFS file cannot be stored: %w", err)
		}
	}
	return nil
}
