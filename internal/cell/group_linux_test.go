package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where the system lets us make control groups, a cell with limits has one of its
// own while it runs, and it is gone afterwards.
func TestControlGroup(t *testing.T) {
	above := findPlace([]string{"pids"})
	if above == "" {
		t.Skip("no control group of version 2 with the pids controller is ours to divide here")
	}
	g := newGroup(Limits{Processes: 64})
	if g == nil {
		t.Fatalf("no group was made in %s", above)
	}
	if got := strings.TrimSpace(readText(filepath.Join(g.dir, "pids.max"))); got != "80" {
		t.Errorf("pids.max is %q", got)
	}
	if reason := g.reached(); reason != "" {
		t.Errorf("an empty group has reached the %s", reason)
	}
	g.remove()
	if _, err := os.Lstat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}
