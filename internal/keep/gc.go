// Package keep removes what is not needed any more: finished workers, the trash, bases,
// interrupted work, and on request everything that cordon keeps. It also throws a result
// away and writes one out for the operator to look at.
//
// It refuses to delete work that is not provably merged or discarded, and takes names that
// cordon made, never paths.
package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
)

// Chore is one thing that gc can do, or that it cannot and why.
type Chore struct {
	Worker lease.ID `json:"worker,omitempty"`
	What   string   `json:"what"`
	Why    string   `json:"why"`
	Bytes  int64    `json:"bytes"`
	Keep   bool     `json:"keep,omitempty"` // only said, not done

	do func(context.Context) error
}

// Options are what the operator asks of gc. The zero value keeps the most.
type Options struct {
	EmptyTrash bool // delete at once what was discarded or released
}

// Chores lists what gc would do. It removes nothing.
func Chores(ctx context.Context, s *worksite.Site, o Options) ([]Chore, error) {
	if !s.State.Exists() {
		return nil, nil
	}
	if err := s.State.SpendReserve(); err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	now, err := s.History()
	if err != nil {
		return nil, err
	}
	all, err := s.Standings(ctx, now.Workers)
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, w := range now.Workers {
		if now.InOpenPlan(w.ID) {
			continue // the plan goes on from what its stages left
		}
		some, err := workerChores(ctx, s, w, all[w.ID])
		if err != nil {
			return nil, err
		}
		list = append(list, unlessVisited(s, w, some)...)
	}
	trashed, err := trashChores(s, o)
	if err != nil {
		return nil, err
	}
	list = append(list, trashed...)
	refs, err := trashedRefs(ctx, s, o, now)
	if err != nil {
		return nil, err
	}
	leftovers, err := leftovers(s, now)
	if err != nil {
		return nil, err
	}
	shadows, err := shadowChores(s)
	if err != nil {
		return nil, err
	}
	copies, err := copyChores(s, o)
	if err != nil {
		return nil, err
	}
	unpacked, err := unpackedChores(s, o)
	if err != nil {
		return nil, err
	}
	caches, err := cacheChores(s, now)
	if err != nil {
		return nil, err
	}
	bases, err := baseChores(ctx, s, now, list)
	return slices.Concat(list, refs, leftovers, shadows, copies, unpacked, caches, bases), err
}

// Do carries a chore out.
func (c Chore) Do(ctx context.Context) error {
	if c.Keep {
		return nil
	}
	return c.do(ctx)
}

func workerChores(ctx context.Context, s *worksite.Site, w *ledger.Worker, now worksite.Standing) ([]Chore, error) {
	status := now.Status
	switch {
	case now.Held:
		return nil, nil
	case w.Exit == nil && w.Start != nil && w.Discard == nil:
		return []Chore{{Worker: w.ID, What: "nothing", Why: "it was lost while it ran: resume, merge or discard it", Keep: true}}, nil
	case status == ledger.MergedIn && w.Removal == nil, status == ledger.NoChange && w.Removal == nil:
		return finishedChores(ctx, s, w, status)
	case w.Removal != nil && !w.Lease.Lease().Adopted && worksite.Exists(s.TreeOf(w)):
		return []Chore{removalChore(s, w, "its removal was interrupted")}, nil
	case w.Discard != nil && w.Removal == nil && (w.Lease.Lease().Adopted || !worksite.Exists(s.TreeOf(w))):
		return nil, nil // in the trash
	case w.Discard != nil && w.Removal == nil:
		return []Chore{{Worker: w.ID, What: "its tree, to the trash", Why: "its discarding was interrupted",
			do: func(ctx context.Context) error { return clearDiscarded(ctx, s, w) }}}, nil
	}
	return nil, nil
}

// String is a chore in one line.
func (c Chore) String() string {
	who := string(c.Worker)
	if who != "" {
		who += ": "
	}
	return fmt.Sprintf("%s%s (%s)", who, c.What, c.Why)
}

// unlessVisited keeps a worker that somebody looks at.
func unlessVisited(s *worksite.Site, w *ledger.Worker, chores []Chore) []Chore {
	removes := func(c Chore) bool { return !c.Keep }
	if !slices.ContainsFunc(chores, removes) || !visitor.Visited(s, w) {
		return chores
	}
	kept := slices.Clone(chores)
	for i := range kept {
		kept[i].Keep, kept[i].Why = true, visitor.ErrVisited.Error()
	}
	return kept
}

// Do carries out every chore, whatever becomes of the others.
func Do(ctx context.Context, chores []Chore) error {
	var errs []error
	for _, c := range chores {
		if err := c.Do(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c, err))
		}
	}
	return errors.Join(errs...)
}
