package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b, want []string
	}{
		{[]string{"s1"}, []string{"s10"}, nil},
		{[]string{"s1", "x"}, []string{"s1/a"}, []string{"s1"}},
		{[]string{"s1/a"}, []string{"s1"}, []string{"s1/a"}},
		{[]string{"s1/a"}, []string{"s1/b"}, nil},
		{[]string{"."}, []string{"a"}, []string{"."}},
		{[]string{"a", "b"}, []string{"."}, []string{"a", "b"}},
		{[]string{"src/*.go"}, []string{"src/a.go"}, []string{"src/*.go"}},
		{[]string{"src/*.go"}, []string{"src/a.md"}, nil},
		{[]string{"src/*.go"}, []string{"src/a.go/x", "y"}, []string{"src/*.go"}},
		{[]string{"**/x"}, []string{"docs"}, []string{"**/x"}},
		{[]string{"**/x"}, []string{"docs/a/b"}, []string{"**/x"}},
		{[]string{"src/**"}, []string{"docs/**"}, nil},
		{[]string{"s1*"}, []string{"s2*"}, nil},
		{[]string{"*.go"}, []string{"a*"}, []string{"*.go"}},
		{[]string{"Src"}, []string{"src"}, []string{"Src"}},
		{[]string{"/abs"}, []string{"src"}, []string{"/abs"}},
		{nil, []string{"."}, nil},
		{[]string{"."}, nil, nil},
	} {
		if got := Overlap(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("Overlap(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// A path that two leases both let land is an overlap of theirs.
func TestOverlapMissesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawPatterns(rt, "a"), drawPatterns(rt, "b")
		path := drawPath(rt, "path")
		ra, rb := rulesOf(t, tree, roots(a...)), rulesOf(t, tree, roots(b...))
		if ra.Judge(path).Class.Lands() && rb.Judge(path).Class.Lands() {
			if len(Overlap(ra.Roots(), rb.Roots())) == 0 || len(Overlap(rb.Roots(), ra.Roots())) == 0 {
				rt.Fatalf("%q lands for %q and %q", path, a, b)
			}
		}
	})
}
