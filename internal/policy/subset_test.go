package policy

import "testing"

func TestRootWithin(t *testing.T) {
	for _, c := range []struct {
		entry string
		roots []string
		want  bool
	}{
		{"src/a", []string{"."}, true},
		{".", []string{"."}, true},
		{".", []string{"src"}, false},
		{"src", []string{"src"}, true},
		{"src/a/**", []string{"src"}, true},
		{"src", []string{"src/**"}, true},
		{"srcs", []string{"src"}, false},
		{"src/a", []string{"docs", "src/*"}, true},
		{"src/*", []string{"src/*"}, true},
		{"src/**/x", []string{"src"}, true},
		{"*", []string{"src"}, false},
		{"src/*", []string{"src/a"}, false},
		{"a/b", []string{"**/b"}, false}, // true of the disk, but not decided here
		{"**/b", []string{"**/b"}, false},
		{"src", nil, false},
		{"../src", []string{"."}, false},
	} {
		if got := RootWithin(c.entry, c.roots); got != c.want {
			t.Errorf("%s within %q: got %v", c.entry, c.roots, got)
		}
	}
}
