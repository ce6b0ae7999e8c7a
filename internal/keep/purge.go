package keep

import (
	"context"
	"path/filepath"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/supervisor"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// Purge is everything that cordon keeps of a repository: its refs and its state. The
// repository itself, its branches and adopted worktrees are not part of it.
type Purge struct {
	Path     string     // the directory with the state
	Bytes    int64      // what it takes on disk
	Refs     []git.Ref  // below refs/cordon
	Workers  int        // that the journal knows
	Unlanded []lease.ID // of these, with work that may be nowhere else
	Problem  error      // the journal could not be read, so the two above are not known
}

// Purgeable looks at what a purge would remove. It refuses while a worker runs.
func Purgeable(ctx context.Context, s *worksite.Site) (Purge, error) {
	p := Purge{Path: s.State.Path()}
	refs, err := s.Host.Refs(ctx, "refs/cordon/")
	if err != nil {
		return p, err
	}
	p.Refs = refs
	if !s.State.Exists() {
		return p, nil
	}
	p.Bytes, _ = worktree.Bytes(p.Path) // nothing when it cannot be measured
	dirs, err := filepath.Glob(s.State.Worker("*"))
	if err != nil {
		return p, err
	}
	for _, dir := range dirs {
		if id := lease.ID(filepath.Base(dir)); supervisor.Works(s, id) {
			return p, fault.Refuse("worker %s runs: wait until it ends, or stop it first", id)
		}
	}
	p.Problem = countWorkers(ctx, s, &p)
	return p, nil
}

// countWorkers finds out whose work would be lost.
func countWorkers(ctx context.Context, s *worksite.Site, p *Purge) error {
	l, err := s.Ledger()
	if err != nil {
		return err
	}
	all, err := s.Standings(ctx, l.Workers)
	if err != nil {
		return err
	}
	for _, w := range l.Workers {
		p.Workers++
		if mayLose(ctx, s, w, all[w.ID].Status) {
			p.Unlanded = append(p.Unlanded, w.ID)
		}
	}
	return nil
}

// mayLose reports whether something of a worker may be nowhere else.
func mayLose(ctx context.Context, s *worksite.Site, w *ledger.Worker, status ledger.Status) bool {
	switch {
	case status == ledger.ThrownAway, w.Removal != nil:
		return false
	case status == ledger.MergedIn, status == ledger.NoChange:
		why, err := whyUnproven(ctx, s, w)
		return why != "" || err != nil
	}
	return true
}

// PurgeAll removes what Purgeable found. Nothing can bring it back.
func PurgeAll(ctx context.Context, s *worksite.Site, p Purge) error {
	if s.State.Exists() {
		release, err := s.State.Await(ctx, state.GateLock)
		if err != nil {
			return err
		}
		defer release()
	}
	for i := range p.Refs {
		p.Refs[i].OID = ""
	}
	if err := s.Host.SetRefs(ctx, p.Refs, "cordon: purge"); err != nil { // the journal, which would announce it, goes too
		return err
	}
	return s.State.Purge()
}
