package doctor

import (
	"strings"
	"testing"
)

// TestVerdict: the last lines of the doctor's say whether cordon works, and what next.
func TestVerdict(t *testing.T) {
	ok, commit := check{"git", statusOK, "", ""}, check{"commit", statusOK, "", ""}
	for _, c := range []struct {
		checks      []check
		ready, next string
		failed      bool
	}{
		{[]check{ok}, "Ready.", "Next: cordon demo", false},
		{[]check{ok, commit}, "Ready.", "Next: cordon run", false},
		{[]check{ok, commit, {"policy", statusOK, "default (no file)", ""}}, "Ready.", "Next: cordon init", false},
		{[]check{ok, {"disk", statusWarn, "", "free some"}}, "Ready, with 1 warning (disk).", "Next: cordon demo", false},
		{[]check{ok, {"cell", statusFail, "none", "a line"}, {"cell", statusFail, "", ""}}, "Not ready: 1 check failed (cell).", "Next: a line", true},
	} {
		v := verdictOf(c.checks)
		if v.Ready != c.ready || len(v.Next) != 1 || !strings.HasPrefix(v.Next[0], c.next) || v.failed != c.failed {
			t.Errorf("%+v: %+v", c.checks, v)
		}
	}
}
