package audit

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/git"
)

// Files of holes cost a worker nothing and would cost an audit hours.
func TestCollectReadsNoEndlessTree(t *testing.T) {
	top := t.TempDir()
	for i := range maxTotal/maxFile + 1 {
		f, err := os.Create(filepath.Join(top, strconv.Itoa(i)))
		must(t, err)
		must(t, f.Truncate(maxFile))
		must(t, f.Close())
	}
	ignored := map[string]bool{}
	tree := Tree{Top: top, Format: git.SHA1, Base: git.ListingOf(nil), Ignored: func(context.Context, []string) (map[string]bool, error) { return ignored, nil }}
	if _, err := Collect(t.Context(), tree); err == nil || !strings.Contains(err.Error(), "more than cordon reads") {
		t.Errorf("error %v", err)
	}
	// What is ignored is not read, so it does not count.
	for i := range maxTotal/maxFile + 1 {
		ignored[strconv.Itoa(i)] = true
	}
	if _, err := Collect(t.Context(), tree); err != nil {
		t.Errorf("ignored files: %v", err)
	}
}
