package guard

import "testing"

// A loop that climbs to the first directory with a file ends where the file is.
func TestLoopEndsAtAFileThatIsThere(t *testing.T) {
	s := worker(t)
	if d := judged(t, s, "while [ ! -f go.mod ]; do cd ..; done; pwd"); d.Verdict != Allow {
		t.Errorf("go.mod is in the worktree: %s: %s", d.Verdict, d.Reason)
	}
	if d := judged(t, s, "while [ ! -f nowhere.mod ]; do cd ..; done; touch x"); d.Verdict == Allow {
		t.Error("a loop that leaves the worktree is allowed to write")
	}
}
