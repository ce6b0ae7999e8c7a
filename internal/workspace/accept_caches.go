package workspace

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// Acceptance has caches of its own if the policy says so: what acceptance of the last landed
// result left. No worker's run is among them. But the code of a result runs in acceptance,
// so one that landed can have written what the next finds.

// acceptanceCaches are those of a lease, or none.
func acceptanceCaches(s *worksite.Site, l lease.Lease) lease.Cache {
	if l.Tree != lease.Layered || l.Worktree != s.State.Seen() || !l.Policy.Gate.Cache.Landed() {
		return lease.Cache{}
	}
	return newestCaches(s, l, "acceptance")
}

// Warm reports whether commands in the tree find caches of an earlier result.
func (t MergedTree) Warm() bool { return t.cache.From != "" }

// KeepCaches keeps the caches of acceptance of a result that landed.
func (t MergedTree) KeepCaches(ctx context.Context, s *worksite.Site, sealed lease.Sealed) error {
	if t.cache.Key == "" {
		return nil
	}
	l := sealed.Lease()
	rules, err := rulesAt(l, t.Top)
	if err != nil {
		return err
	}
	l.Cache = t.cache
	return keepCaches(ctx, s, left{
		lease: l, rules: rules, layers: s.AcceptLayers(l.ID), base: t.base, never: holdsTestResults,
		notes: func(dir string) map[string]string { return expireTests(dir, s.Now().UnixNano()) },
	})
}

// testResults are names under which tools keep what makes them skip a test the next time.
var testResults = []string{
	".pytest_cache", ".gradle", "build-cache-1", "test-results", ".turbo", ".nx", "nx", ".jest-cache", ".vitest", ".testmondata", ".wireit",
}

// holdsTestResults reports whether a path must not be kept for acceptance.
func holdsTestResults(rel string) bool {
	return slices.Contains(testResults, path.Base(rel)) || clientCache(rel)
}

// expireTests tells go that no test result in a cache is to be used: it reads the time from
// this file, as go clean -testcache writes it.
func expireTests(dir string, now int64) map[string]string {
	text := fmt.Sprintf("%d\n", now)
	if filepath.Base(dir) == "go-build" {
		return map[string]string{"testexpire.txt": text}
	}
	return map[string]string{"go-build/testexpire.txt": text, "testexpire.txt": text}
}
