package worksite

import (
	"context"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// Standing is what can be said of a worker at the moment of asking.
type Standing struct {
	ledger.Facts
	Status ledger.Status
	Behind int // commits that its target has and its base does not
}

// Standings asks about any number of workers at once: one git process for all of them, and
// two for each branch that they are to land on. One that asks again starts those two only
// for commits that it has not asked for, or where the branch has moved.
func (s *Site) Standings(ctx context.Context, workers []*ledger.Worker) (map[lease.ID]Standing, error) {
	targets := map[string][]*ledger.Worker{}
	for _, w := range workers {
		target := w.Lease.Lease().Target
		targets[target] = append(targets[target], w)
	}
	kin, err := s.kin.among(ctx, s.Host, targets)
	if err != nil {
		return nil, err
	}
	all := map[lease.ID]Standing{}
	for target, some := range targets {
		for _, w := range some {
			all[w.ID] = s.standing(w, kin[target])
		}
	}
	return all, nil
}

// commitsOf are the base of a worker and its result, if it has one.
func commitsOf(w *ledger.Worker) []git.OID {
	list := []git.OID{w.Lease.Lease().Base}
	if c := resultOf(w); c != "" {
		list = append(list, c)
	}
	return list
}

// resultOf is the commit whose ancestry says whether a worker's work is in its target.
func resultOf(w *ledger.Worker) git.OID {
	if w.Gate == nil || w.Gate.Outcome == gate.Nothing {
		return ""
	}
	return w.Gate.Commit
}

// standing answers from the host alone. A commit that the host does not have is in no
// branch of it.
func (s *Site) standing(w *ledger.Worker, of map[git.OID]relation) Standing {
	st := Standing{Facts: ledger.Facts{Held: s.State.Held(state.WorkerLock(string(w.ID)))}}
	st.Ancestor = of[resultOf(w)].merged
	st.Behind = of[w.Lease.Lease().Base].behind
	st.Status = w.Status(st.Facts)
	return st
}

// Facts checks what the journal cannot know of a worker.
func (s *Site) Facts(ctx context.Context, w *ledger.Worker) (ledger.Facts, error) {
	all, err := s.Standings(ctx, []*ledger.Worker{w})
	return all[w.ID].Facts, err
}

// Status is the word for a worker now.
func (s *Site) Status(ctx context.Context, w *ledger.Worker) (ledger.Status, error) {
	all, err := s.Standings(ctx, []*ledger.Worker{w})
	return all[w.ID].Status, err
}
