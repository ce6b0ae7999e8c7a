package policy

import (
	"slices"
	"testing"
)

func TestGrave(t *testing.T) {
	for root, want := range map[string]bool{
		".": true, "./": true, "a/..": true, "*": true, "src/**": true, "src/[ab]": true, ".envrc": true, "sub/.ENVRC": true, ".vscode/tasks.json": true,
		"cordon.yaml": true, ".git": true, "docs/guide.md": false, "go.sum": false, ".vscode/extensions.json": false,
	} {
		if got := Grave(root) != ""; got != want {
			t.Errorf("%q: %q", root, Grave(root))
		}
	}
}

func TestMeetRoots(t *testing.T) {
	for _, c := range []struct{ roots, most, want []string }{
		{[]string{"."}, []string{"docs"}, []string{"docs"}},
		{[]string{"docs", "src/a"}, []string{"src"}, []string{"src/a"}},
		{[]string{"src"}, []string{"."}, []string{"src"}},
		{[]string{"src"}, []string{"src2", "sr"}, nil},
		{[]string{"src/*.go"}, []string{"src"}, []string{"src/*.go"}},
		{[]string{"src"}, []string{"src/*.go"}, []string{"src/*.go"}},
		{[]string{"docs"}, []string{"*"}, nil},
		{[]string{"src/{a,../../etc}"}, []string{"src"}, nil},
		{[]string{"src"}, []string{"src/../.."}, nil},
		{nil, []string{"."}, nil},
	} {
		if got := MeetRoots(c.roots, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %q, want %q", c.roots, c.most, got, c.want)
		}
	}
}
