package gate

import (
	"context"
	"fmt"
	"path/filepath"

	"cordon/internal/git"
	"cordon/internal/gitfile"
)

// checkouts lists those of the repository. A linked one counts as gone where the directory is another repository's:
// the list lies in the git directory, and could make a landing write anywhere.
func (g *Gate) checkouts(ctx context.Context) ([]git.Checkout, error) {
	all, err := g.host.Checkouts(ctx)
	for i, c := range all {
		at, found := gitfile.PlaceAt(filepath.Join(c.Top, ".git"))
		real, err := filepath.EvalSymlinks(c.GitDir)
		all[i].Prunable = c.Prunable || c.Linked && (!found || err != nil || at.GitDir != real)
	}
	return all, err
}

// followers lists the checkouts on a branch, or says why one of them must not be
// touched.
func (g *Gate) followers(ctx context.Context, ref string) (on []git.Checkout, why, err error) {
	all, err := g.checkouts(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		what, branch, err := gitfile.UnderWay(c.GitDir, c.Branch)
		if err != nil {
			return nil, nil, err
		}
		if branch != ref {
			continue
		}
		if what != "" {
			return nil, &busyError{fmt.Errorf("the checkout %s is in the middle of %s", c.Top, what)}, nil
		}
		if c.Prunable {
			return nil, fmt.Errorf("the checkout %s has the branch checked out, but cannot be reached", c.Top), nil
		}
		on = append(on, c)
	}
	return on, nil, nil
}
