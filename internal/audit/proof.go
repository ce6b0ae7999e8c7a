package audit

import (
	"context"
	"regexp"
	"sync"

	"cordon/internal/git"
)

// proofRef is the name of a ref that the first versions of cordon made in a worker's
// repository to prove a cell, and left there when they were killed meanwhile.
var proofRef = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs/cordon/proof-([A-Z2-7]{26})$`) })

// isProof reports whether a ref is such a one: on a commit without parents that says so and
// has the files of the base or of a commit of the worker's, which are judged anyway. The
// worker is not accused of it. It may have made it itself, and gains nothing by that.
func (h *History) isProof(ctx context.Context, name string, oid, base git.OID) (bool, error) {
	match := proofRef().FindStringSubmatch(name)
	if match == nil {
		return false, nil
	}
	texts, err := h.repo.CommitTexts(ctx, append([]git.OID{oid, base}, h.Commits...))
	if err != nil {
		return false, err
	}
	proof := texts[0]
	if len(proof.Headers) != 3 || proof.Headers[0].Key != "tree" || proof.Headers[1].Key != "author" || proof.Message != "proof "+match[1]+"\n" {
		return false, nil
	}
	for _, t := range texts[1:] {
		if len(t.Headers) > 0 && t.Headers[0] == proof.Headers[0] {
			return true, nil
		}
	}
	return false, nil
}
