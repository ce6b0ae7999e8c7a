package keep

import (
	"context"
	"strings"
	"time"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// TrashTime is how long a discarded result is kept.
const TrashTime = 14 * 24 * time.Hour

// Sweep deletes what gc has put out of the way.
func Sweep(s *worksite.Site) error { return s.State.Sweep() }

// trashedRefs forgets what is left of discarded and released workers in the host
// when their time is over: the refs in refs/cordon/trash, and the pin.
func trashedRefs(ctx context.Context, s *worksite.Site, o Options, now *ledger.Ledger) ([]Chore, error) {
	ids, err := s.Gate.Trashed(ctx)
	if err != nil {
		return nil, err
	}
	inTrash := map[lease.ID]bool{} // some are not of this journal, and not ours to drop
	for _, id := range ids {
		inTrash[id] = true
	}
	var list []Chore
	for _, w := range now.Workers {
		if !inTrash[w.ID] && (w.Discard == nil || w.Removal != nil) {
			continue
		}
		over := w.Changed.Add(TrashTime)
		why := "discarded, released or of an earlier attempt; kept until " + over.Format("2006-01-02")
		c := Chore{Worker: w.ID, What: "its pin and refs in refs/cordon/trash", Why: why}
		c.Keep = s.Now().Before(over) && !o.EmptyTrash
		c.do = func(ctx context.Context) error { return forgetTrashed(ctx, s, w) }
		list = append(list, c)
	}
	return list, nil
}

func forgetTrashed(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	return forgetSettled(ctx, s, w, "its time in the trash has ended", s.Gate.EmptyTrash)
}

func trashChores(s *worksite.Site, o Options) ([]Chore, error) {
	trashed, err := s.State.Trashed()
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, t := range trashed {
		c := Chore{What: "trash/" + t.Name, Why: "removed on " + t.When.Format("2006-01-02")}
		if t.Dropped() {
			c.Why = "removed; its deletion was interrupted"
		}
		c.Bytes, _ = worktree.Bytes(t.Path) // for display
		if c.Keep = s.Now().Before(t.When.Add(TrashTime)) && !isWorthless(t.Name) && !o.EmptyTrash; c.Keep {
			c.Why += ", kept until " + t.When.Add(TrashTime).Format("2006-01-02")
		}
		c.do = func(context.Context) error { return s.State.Drop(t.Path, s.Now()) }
		list = append(list, c)
	}
	return list, nil
}

// isWorthless names what cordon made itself and no worker ever had: acceptance
// trees and unfinished worktrees.
func isWorthless(name string) bool {
	_, what, _ := strings.Cut(name, "-")
	return strings.HasPrefix(what, "accept-") || strings.HasSuffix(what, ".new")
}
