package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/cache"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worktree"
)

// Prepared is what setup commands left for the commands that follow: scratch that is not tracked, and caches of the
// home. The code of a result runs in setup, so nothing else that it wrote is there: no tracked file, no repository, no
// settings, no temporary files.
type Prepared struct {
	dir    string // layers that cells show below their own
	Missed []string
}

// files is the scratch of the tree: of a plain tree, beside everything else.
func (p *Prepared) files() string { return filepath.Join(p.dir, "files") }

// mostMissed bounds how many files are listed that setup left in vain.
const mostMissed = 3

// Prepare takes what setup commands left out of their tree, in which nothing runs any more.
func (t *MergedTree) Prepare(ctx context.Context, sealed lease.Sealed) (*Prepared, error) {
	p := &Prepared{dir: t.layers + "-left"}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	if t.over == nil {
		if err := os.Rename(t.Top, p.files()); err != nil {
			return nil, err
		}
	} else {
		part, err := scratchOf(sealed.Lease(), t.Top, worktree.Upper(t.layers, worktree.FilesLayer), t.base)
		if err != nil {
			return nil, err
		}
		part.Unwanted = func(rel string, changed time.Time) {
			if changed.After(t.made) && len(p.Missed) < mostMissed {
				p.Missed = append(p.Missed, rel)
			}
		}
		if err := part.Carry(ctx, p.files()); err != nil {
			return nil, err
		}
	}
	layers, err := os.ReadDir(t.layers) // a cell without private layers has none
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, layer := range layers {
		if strings.HasPrefix(layer.Name(), "cache-") || strings.HasPrefix(layer.Name(), "scratch-") {
			if err := os.Rename(filepath.Join(t.layers, layer.Name()), filepath.Join(p.dir, layer.Name())); err != nil {
				return nil, err
			}
		}
	}
	t.layers = p.dir
	return p, nil
}

// copyInto copies the scratch into a plain tree.
func (p *Prepared) copyInto(ctx context.Context, sealed lease.Sealed, top string) error {
	part, err := scratchOf(sealed.Lease(), top, p.files(), []string{top})
	if err != nil {
		return err
	}
	part.Apart = true
	return part.Carry(ctx, top)
}

// scratchOf is the scratch in a tree that is not tracked.
func scratchOf(l lease.Lease, top, upper string, tracked []string) (cache.Part, error) {
	rules, err := rulesAt(l, top)
	return cache.Part{
		At: top, Upper: upper, Base: tracked, Links: true,
		Wanted: func(rel string) bool { return rules.Judge(rel).Class == policy.Scratch },
		Never:  func(rel string) bool { return rel == ".git" },
	}, err
}
