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
		if a.Optional {
			continue
		}
		content, there, err := g.repo.FileAt(ctx, commit, a.Path)
		if errors.Is(err, git.ErrNoFile) {
			return "the artifact " + a.Path + " is " + git.ErrNoFile.Error(), nil
		}
		if err != nil {
			return "", err
		}
		if why := brokenBy(a, content, there); why != "" {
			return "the artifact " + a.Path + " " + why, nil
		}
	}
	return "", nil
}

func brokenBy(a plan.Artifact, content []byte, there bool) string {
	switch {
	case !there:
		return "is missing"
	case len(bytes.TrimSpace(content)) == 0:
		return "is empty"
	}
	for _, s := range a.Contains {
		if !strings.Contains(string(content), s) {
			return fmt.Sprintf("does not contain %q", s)
		}
	}
	for _, s := range a.Not {
		if strings.Contains(string(content), s) {
			return fmt.Sprintf("contains %q", s)
		}
	}
	return ""
}
