package follow

import (
	"context"
	"strings"

	"cordon/internal/git"
)

// Uncommitted reports whether an obstacle is a change of the operator's that they can
// commit, stash, revert or move away. Any other one is a setting or a fault.
func (o Obstacle) Uncommitted() bool {
	return o.Why == whyChanged || o.Why == whyCrowded || o.Why == WhyUntracked
}

// Remaining are those obstacles of an earlier step that are still there. It takes no lock,
// and so only says whether another step is worth the attempt.
func Remaining(ctx context.Context, repo git.Repo, c git.Checkout, list []Obstacle) ([]Obstacle, error) {
	root, err := openDir(c.Top)
	if err != nil {
		return nil, err
	}
	defer root.close()
	status, err := repo.Status(ctx, c, false)
	if err != nil {
		return nil, err
	}
	index, err := repo.Index(ctx, c)
	if err != nil {
		return nil, err
	}
	dirty := map[string]git.Change{}
	for _, change := range status {
		dirty[change.Path] = change
	}
	var left []Obstacle
	for _, o := range list {
		id, _ := root.look(o.Path) // behind a link there is nothing
		at, tracked := index[o.Path]
		change, changed := dirty[o.Path]
		switch {
		case changed && !change.Staged() && holdsLarge(root, o.Path, id, at.OID, repo.Format):
		case changed, o.Why == whyCrowded && crowds(dirty, o.Path), o.Why == WhyUntracked && !tracked && id.exists():
			left = append(left, o)
		}
	}
	return left, nil
}

// crowds reports whether a changed path is above or below another path.
func crowds(dirty map[string]git.Change, p string) bool {
	for d := range dirty {
		if strings.HasPrefix(d, p+"/") || strings.HasPrefix(p, d+"/") {
			return true
		}
	}
	return false
}
