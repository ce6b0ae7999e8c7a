package worksite

import (
	"cordon/internal/cache"
	"cordon/internal/ledger"
)

// CacheStore holds the caches of landed runs.
func (s *Site) CacheStore() cache.Store { return cache.Store{State: s.State} }

// HoldCache is the directory of a generation of caches, which stays there until this
// process ends. It is "" where there is none any more.
func (s *Site) HoldCache(n cache.Name) (string, error) {
	if n == "" {
		return "", nil
	}
	if dir, ok := s.cached[n]; ok {
		return dir, nil
	}
	dir, _, err := s.CacheStore().Hold(n, s.Now()) // the lock ends with the process
	if err == nil {
		if s.cached == nil {
			s.cached = map[cache.Name]string{}
		}
		s.cached[n] = dir
	}
	return dir, err
}

// CacheNeeded tells which generations workers were given that may still run.
func CacheNeeded(now *ledger.Ledger) func(cache.Name) bool {
	needed := map[cache.Name]bool{}
	for _, w := range now.Workers {
		if landed := w.Gate != nil && w.Gate.Commit != ""; w.Removal == nil && w.Discard == nil && !landed {
			needed[cache.Name(w.Lease.Lease().Cache.From)] = true
		}
	}
	return func(n cache.Name) bool { return needed[n] }
}
