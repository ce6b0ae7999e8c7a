package guard

import (
	"os"
	"testing"
)

// The corpora of escapes and of harmless commands are ours: written beside the
// guard, by category, to find what the labelled calls of cases.jsonl do not show.
func TestEscapes(t *testing.T)  { agrees(t, "testdata/escapes.jsonl") }
func TestHarmless(t *testing.T) { agrees(t, "testdata/harmless.jsonl") }

// These were written by someone who had seen neither the guard nor the others, to
// measure it once; now they keep it where it is.
func TestUnseen(t *testing.T) { agrees(t, "testdata/unseen.jsonl") }

// Calls that the guard is known to judge wrongly are kept here, and SECURITY.md
// describes them. When a change corrects one, move it to the file of its kind.
func TestLimits(t *testing.T) {
	s := worker(t)
	for _, c := range readCases(t, "testdata/limits.jsonl") {
		if d := Decide(s, c.call()); (d.Verdict != Allow) == (c.Expect != "allow") {
			t.Errorf("%s is judged correctly now: %q: %s", c.ID, c.Command, d.Reason)
		}
	}
}

// A day's work in a cell, where the repository and the home are the worker's own. Each refusal was decided by a
// person, and its line says why: a look at what lies beside the worktree or in the home, and software for the whole machine.
func TestDay(t *testing.T) {
	s := worker(t)
	s.Private = true
	agreesIn(t, s, "testdata/day.jsonl")
}

func agrees(t *testing.T, name string) {
	t.Helper()
	agreesIn(t, worker(t), name)
}

func agreesIn(t *testing.T, s *Scope, name string) {
	t.Helper()
	wrong := 0
	for _, c := range readCases(t, name) {
		d := Decide(s, c.call())
		if (d.Verdict != Allow) == (c.Expect != "allow") {
			continue
		}
		if wrong++; wrong <= 40 || os.Getenv("GUARD_ALL") != "" {
			t.Errorf("%s %s: %s, labelled %s (%s)\n  %q\n  %s", c.ID, c.Category, d.Verdict, c.Expect, c.Why, c.Command, d.Reason)
		}
	}
	if wrong > 0 {
		t.Errorf("%d wrong", wrong)
	}
}
