package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/git"
	"cordon/internal/plan"
)

// broken is the first promise about a file that a commit does not keep, in words; "": it
// keeps them all. Only what is tracked counts.
func (g *Gate) broken(ctx context.Context, commit git.OID, promised []plan.Artifact) (string, error) {
	for _, a := range promised {
		content, there, err := g.repo.FileAt(ctx, commit, a.Path)
		if errors.Is(err, git.ErrNoFile) && a.Optional {
			continue // a link, or a submodule: no text in it
		}
		if errors.Is(err, git.ErrNoFile) {
			return noun(a) + a.Path + " is " + git.ErrNoFile.Error(), nil
		}
		if err != nil {
			return "", err
		}
		if why := brokenBy(a, content, there); why != "" {
			return noun(a) + a.Path + " " + why, nil
		}
	}
	return "", nil
}

func noun(a plan.Artifact) string {
	if a.Optional {
		return ""
	}
	return "the artifact "
}

func brokenBy(a plan.Artifact, content []byte, there bool) string {
	switch {
	case !there && a.Optional:
		return ""
	case !there:
		return "is missing"
	case !a.Optional && len(bytes.TrimSpace(content)) == 0:
		return "is empty"
	}
	for _, s := range a.Contains {
		if !strings.Contains(string(content), s) {
			return fmt.Sprintf("does not contain %q", s)
		}
	}
	for _, s := range a.Not {
		if strings.Contains(string(content), s) {
			if a.Optional {
				return "still has conflict markers"
			}
			return fmt.Sprintf("contains %q", s)
		}
	}
	return ""
}
