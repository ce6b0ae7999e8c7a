package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"time"
	"unicode/utf8"

	"cordon/internal/cache"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// Build tools compare the times of files. A base can be a checkout from before the scratch
// of an earlier run was made: a file that went back to an older version would be older than
// what was built from the newer one, nothing would be built again, and tests would pass
// with code that is not in the tree. So files that differ from what the scratch was
// made with are as young as it, as in a checkout in which git replaced them.

// mostRenewed bounds how many files are made younger; with more, a tree starts without
// scratch.
const mostRenewed = 2000

// errNotComparable is scratch of which nobody knows what it was made with.
var errNotComparable = errors.New("the caches were made with other files than can be told")

// renewed are the files of a commit that must not look older than a time, for the scratch
// that a tree lies on.
func renewed(ctx context.Context, s *worksite.Site, repo git.Repo, c lease.Cache, commit git.OID) (map[string]time.Time, error) {
	o, err := originOf(ctx, s, repo, c, commit)
	files := map[string]time.Time{}
	for path, at := range o.Since {
		files[path] = time.Unix(0, at)
	}
	return files, err
}

// originOf is what the scratch of a cache was made with, as it is to be handed on from a
// tree of a commit.
func originOf(ctx context.Context, s *worksite.Site, repo git.Repo, c lease.Cache, commit git.OID) (cache.Origin, error) {
	none := cache.Origin{Commit: string(commit)}
	from, err := s.HoldCache(cache.Name(c.From))
	if err != nil || from == "" {
		return none, err
	}
	o, err := cache.ReadOutline(filepath.Join(from, treePart))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(o.Roots) == 0 {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	old, err := git.ParseOID(o.Commit)
	if err != nil {
		return none, errNotComparable // of a version that wrote none
	}
	since := map[string]int64{}
	maps.Copy(since, o.Since)
	if old != commit {
		deltas, err := repo.Diff(ctx, old, commit)
		if err != nil {
			return none, errNotComparable // the operator's git no longer has it
		}
		for _, d := range deltas {
			if d.Old.Mode == git.Gitlink || d.New.Mode == git.Gitlink || !utf8.ValidString(d.Path) {
				return none, errNotComparable
			}
			since[d.Path] = o.Made
		}
	}
	if len(since) > mostRenewed {
		return none, errNotComparable
	}
	none.Since = since
	return none, nil
}

// comparable takes a generation from a cache whose scratch cannot be compared with a
// commit.
func comparable(ctx context.Context, s *worksite.Site, repo git.Repo, c lease.Cache, commit git.OID) lease.Cache {
	if _, err := originOf(ctx, s, repo, c, commit); err != nil {
		c.From = ""
	}
	return c
}
