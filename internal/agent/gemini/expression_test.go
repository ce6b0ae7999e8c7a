package gemini

import (
	"regexp"
	"testing"
)

// TestExpression holds globs against paths as a call of Gemini says them. Nothing of
// an expression may be what the client refuses to read.
func TestExpression(t *testing.T) {
	for _, row := range []struct {
		glob, path string
		want       bool
	}{
		{".", "x", true}, {".", "a/b", true},
		{"src", "src", true}, {"src", "src/a/b", true}, {"src", "srcs/a", false}, {"src", "a/src", false},
		{"src/**", "src/a/b", true}, {"./src", "src/a", true},
		{"*.md", "a.md", true}, {"*.md", "b/a.md", false}, {"*.md", "aXmd", false},
		{"**/.git", ".git", true}, {"**/.git", "a/b/.git/config", true}, {"**/.git", "a.git", false},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true},
		{"src/{gen,vendor}", "src/gen/x", true}, {"src/{gen,vendor}", "src/general", false},
		{`a\[x\]`, "a[x]", true}, {"a?c", "abc", true}, {"a?c", "a/c", false}, {"a(1)", "a(1)/x", true},
	} {
		e := expression(row.glob)
		if got := regexp.MustCompile(`"file_path":"` + e + `"`).MatchString(`{"content":"y","file_path":"` + row.path + `"}`); got != row.want {
			t.Errorf("%s and %s: %v, by %s", row.glob, row.path, got, e)
		}
		if regexp.MustCompile(`\([^)]*[*+?{].*\)[*+?{]`).MatchString(e) {
			t.Errorf("%s: the client does not read %s", row.glob, e)
		}
	}
}
