package worksite

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// mostReadRoots bounds what is proposed: a long list is no lease.
const mostReadRoots = 5

// RefusedReads are the entries of read_roots that would have let a worker's refused reads
// pass, each with how often. The records come from the cell, so each entry is checked
// again: secrets, repositories and other homes are never among them.
func (s *Site) RefusedReads(w *ledger.Worker) (map[string]int, error) {
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	l := w.Lease.Lease()
	scope := guard.Scope{Worktree: l.Worktree, Hosts: s.Hosts(), State: root, Home: l.Home, Fold: l.Fold, Rules: w.Lease.Rules()}
	times := map[string]int{}
	_, err = s.Decisions(w, func(r guard.Record) {
		if r.Lift != "" && r.Verdict != guard.Allow && scope.LiftedBy(r.Lift) {
			times[r.Lift]++
		}
	})
	return times, err
}

// adviseReadRoots tells the operator which line of the policy would have let refused reads
// pass.
func (s *Site) adviseReadRoots(w *ledger.Worker) {
	times, err := s.RefusedReads(w)
	if err != nil || len(times) == 0 {
		return
	}
	roots := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		if d := times[b] - times[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var quoted []string
	for _, r := range append(slices.Clone(w.Lease.Lease().Policy.Filesystem.ReadRoots), roots[:min(len(roots), mostReadRoots)]...) {
		quoted = append(quoted, strconv.Quote(r))
	}
	s.Voice.Step(w.ID, "guard", Count(len(times), "place")+" outside the worktree could not be read; to allow in a new run: filesystem.read_roots: ["+
		strings.Join(quoted, ", ")+"]")
}
