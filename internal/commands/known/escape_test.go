package known

import (
	"os"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
)

// Each line of testdata/escapes.txt leads out of the tree, and says so: ../x,
// /w/repo and ~ are outside.
func TestEscapes(t *testing.T) {
	for _, line := range testLines(t, "escapes.txt") {
		u := Of(commands.Call{Args: words(line)})
		if len(u.Findings) == 0 && !outsideUse(u, 3) {
			t.Errorf("%s: %s", line, shortUse(u))
		}
	}
}

// Each line of testdata/harmless.txt names such paths only as text, or none.
func TestHarmless(t *testing.T) {
	for _, line := range testLines(t, "harmless.txt") {
		u := Of(commands.Call{Args: words(line)})
		if len(u.Findings) > 0 || outsideUse(u, 3) {
			t.Errorf("%s: %s", line, shortUse(u))
		}
	}
}

func testLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// outsideUse reports whether a call reaches a path outside, itself or by what it
// runs.
func outsideUse(u commands.Use, depth int) bool {
	for _, a := range u.Access {
		if outsidePath(argtext.JoinDir(a.Dir, a.Path)) {
			return true
		}
	}
	for _, r := range u.Runs {
		if strings.Contains(r.Code, "../x") || outsidePath(r.Dir) {
			return true
		}
		if len(r.Args) > 0 && depth > 0 && outsideUse(Of(commands.Call{Args: r.Args}), depth-1) {
			return true
		}
	}
	return false
}

func outsidePath(p string) bool {
	for _, start := range []string{"../", "/w/", "~", "sub/../.."} {
		if strings.HasPrefix(p, start) {
			return true
		}
	}
	return p == ".." || p == "/w"
}
