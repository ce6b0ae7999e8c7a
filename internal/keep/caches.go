package keep

import (
	"context"
	"time"

	"cordon/internal/ledger"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// idleCache is how long caches are kept that nobody uses.
const idleCache = 14 * 24 * time.Hour

// cacheChores are generations of caches that no worker was given who may still run: all
// but the newest, and the newest if no worker used it for long.
func cacheChores(s *worksite.Site, now *ledger.Ledger) ([]Chore, error) {
	store := s.CacheStore()
	var list []Chore
	unfinished, err := store.Unfinished()
	if err != nil {
		return nil, err
	}
	for _, path := range unfinished {
		c := Chore{What: "an unfinished cache", Why: "left by an interrupted run"}
		c.Bytes, _ = worktree.Bytes(path) // for display
		c.do = func(context.Context) error { return s.State.Erase(path) }
		list = append(list, c)
	}
	all, err := store.List()
	if err != nil {
		return nil, err
	}
	needed := worksite.CacheNeeded(now)
	for _, k := range all {
		if needed(k.Name) || k.Newest && s.Now().Sub(k.Used) < idleCache {
			continue
		}
		c := Chore{What: "caches/" + string(k.Name), Why: "no worker needs these caches"}
		c.Bytes, _ = worktree.Bytes(s.State.Cache(string(k.Name)))
		c.do = func(context.Context) error { _, err := store.Remove(k.Name); return err }
		list = append(list, c)
	}
	return list, nil
}
