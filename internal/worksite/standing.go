package worksite

import (
	"context"
	"maps"
	"slices"

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

// Standings asks about any number of workers at once: one git process for all of them,
// and two for each branch that they are to land on.
func (s *Site) Standings(ctx context.Context, workers []*ledger.Worker) (map[lease.ID]Standing, error) {
	targets := map[string][]*ledger.Worker{}
	for _, w := range workers {
		target := w.Lease.Lease().Target
		targets[target] = append(targets[target], w)
	}
	found, err := s.findCommits(ctx, targets)
	if err != nil {
		return nil, err
	}
	all := map[lease.ID]Standing{}
	for target, some := range targets {
		graph, err := s.graphOf(ctx, found, target, some)
		if err != nil {
			return nil, err
		}
		for _, w := range some {
			all[w.ID] = s.standing(w, found, graph)
		}
	}
	return all, nil
}

// findCommits finds the targets, and which of the commits of their workers the host has.
func (s *Site) findCommits(ctx context.Context, targets map[string][]*ledger.Worker) (map[string]git.Found, error) {
	asked := map[string]bool{}
	for target, workers := range targets {
		asked[target] = true
		for _, w := range workers {
			for _, c := range commitsOf(w) {
				asked[string(c)] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(asked))
	if len(names) == 0 {
		return nil, nil
	}
	list, err := s.Host.Lookup(ctx, names)
	if err != nil {
		return nil, err
	}
	found := map[string]git.Found{}
	for i, name := range names {
		if list[i].Kind == "commit" {
			found[name] = list[i]
		}
	}
	return found, nil
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

// graphOf is nil where the target is gone.
func (s *Site) graphOf(ctx context.Context, found map[string]git.Found, target string, workers []*ledger.Worker) (*git.Graph, error) {
	tip, there := found[target]
	if !there {
		return nil, nil
	}
	commits := map[git.OID]bool{}
	for _, w := range workers {
		for _, c := range commitsOf(w) {
			if _, there := found[string(c)]; there {
				commits[c] = true
			}
		}
	}
	return s.Host.Graph(ctx, tip.OID, slices.Sorted(maps.Keys(commits)))
}

// standing answers from the host alone. A commit that the host does not have is in no
// branch of it.
func (s *Site) standing(w *ledger.Worker, found map[string]git.Found, graph *git.Graph) Standing {
	st := Standing{Facts: ledger.Facts{Held: s.State.Held(state.WorkerLock(string(w.ID)))}}
	has := func(c git.OID) bool { _, there := found[string(c)]; return there && graph != nil }
	if c := resultOf(w); has(c) {
		st.Ancestor = graph.Merged(c)
	}
	if base := w.Lease.Lease().Base; has(base) {
		st.Behind = graph.Behind(base)
	}
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
