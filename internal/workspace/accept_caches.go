package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// Acceptance has caches of its own if the policy says so: what acceptance of the last landed
// result left. No worker's run is among them. But the code of a result runs in acceptance,
// so one that landed can have written what the next finds.

// acceptanceCaches are those of a lease, or none. Setup commands leave what they wrote into caches, also where the
// host has none.
func acceptanceCaches(ctx context.Context, s *worksite.Site, l lease.Lease, commit git.OID) lease.Cache {
	setup := len(l.Policy.Setup) > 0
	switch {
	case l.Tree == lease.Layered && l.Worktree == s.State.Seen() && l.Policy.Gate.Cache.Landed():
		return comparable(ctx, s, s.Gate.Repo(), newestCaches(s, l, cacheDirs(l.Home, setup), "acceptance"), commit)
	case setup:
		return lease.Cache{Dirs: cacheDirs(l.Home, true)}
	}
	return lease.Cache{}
}

// Warm reports whether commands in the tree find caches of an earlier result.
func (t MergedTree) Warm() bool { return t.cache.From != "" }

// KeepAccepted keeps the caches that commands left in the trees of a commit that landed.
func KeepAccepted(ctx context.Context, s *worksite.Site, sealed lease.Sealed, trees []MergedTree) error {
	from := ""
	for _, t := range trees {
		if t.cache.Key == "" || t.commit != trees[0].commit { // it has some paths only
			return nil
		}
		if from != "" {
			t.cache.From = from
		}
		if err := t.keepCaches(ctx, s, sealed); err != nil {
			return err
		}
		from = string(s.CacheStore().Newest(t.cache.Key))
	}
	return nil
}

func (t MergedTree) keepCaches(ctx context.Context, s *worksite.Site, sealed lease.Sealed) error {
	l := sealed.Lease()
	rules, err := rulesAt(l, t.Top)
	if err != nil {
		return err
	}
	l.Cache, l.Worktree = t.cache, t.Top
	origin, err := originOf(ctx, s, s.Gate.Repo(), l.Cache, t.commit)
	if err != nil {
		return err
	}
	return keepCaches(ctx, s, left{
		lease: l, rules: rules, layers: t.layers, base: t.base, origin: origin, never: holdsTestResults,
		notes: func(dir fs.FS) (map[string]string, error) { return expireTests(dir, s.Now().UnixNano()) },
	})
}

// testResults are names under which tools keep what makes them skip a test or a check the
// next time.
var testResults = []string{
	".pytest_cache", "lastfailed", "stepwise", ".testmondata", // pytest, wherever cache_dir is
	".gradle", "build-cache-1", "build-cache", "test-results", "succeeded_tests", "sbt", // the JVM
	".turbo", "turbo", ".nx", "nx", ".moon", "lage", "backfill", ".wireit", ".jest-cache", ".vitest", // JavaScript
	"bazel", "pants", "buck-out", "zig", ".zig-cache", "zig-cache", "dune", // they run tests as they build
	".eslintcache", ".stylelintcache", ".prettier-cache", ".ruff_cache", "ruff", "golangci-lint", // checks
}

// holdsTestResults reports whether a path must not be kept for acceptance.
func holdsTestResults(rel string) bool {
	return slices.Contains(testResults, path.Base(rel)) || strings.HasSuffix("/"+rel, "/_build/.db") || clientCache(rel)
}

// expireTests tells go that no test result in a cache is to be used: it reads the time from
// this file, as go clean -testcache writes it.
func expireTests(dir fs.FS, now int64) (map[string]string, error) {
	if holds, err := holdsGoResults(dir); err != nil || !holds {
		return nil, err
	}
	return map[string]string{"testexpire.txt": fmt.Sprintf("%d\n", now)}, nil
}

// isHex reports whether a name is so many hexadecimal digits, as go writes them.
func isHex(name string, digits int) bool {
	return len(name) == digits && strings.Trim(name, "0123456789abcdef") == ""
}

// holdsGoResults reports whether a directory is a cache of go: it keeps a result as XX/XX…-a,
// wherever GOCACHE says that it is. What is kept of one has only those directories that
// a run wrote into.
func holdsGoResults(dir fs.FS) (bool, error) {
	entries, err := fs.ReadDir(dir, ".")
	for _, e := range entries {
		if !isHex(e.Name(), 2) {
			continue
		}
		if e.Type() == fs.ModeSymlink {
			return true, nil // go would follow it
		}
		if !e.IsDir() {
			continue
		}
		inside, err := fs.ReadDir(dir, e.Name())
		if err != nil || slices.ContainsFunc(inside, isGoResult) {
			return err == nil, err
		}
	}
	return false, err
}

func isGoResult(e fs.DirEntry) bool {
	sum, isResult := strings.CutSuffix(e.Name(), "-a")
	return isResult && isHex(sum, 64)
}
