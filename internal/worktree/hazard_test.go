package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cordon/internal/testfile"
)

func TestLinked(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree/own", "tree/alone", "tree/skip/s", "outside/f"} {
		testfile.Write(t, filepath.Join(base, name), "x")
	}
	link := func(from, to string) {
		t.Helper()
		if err := os.Link(filepath.Join(base, from), filepath.Join(base, to)); err != nil {
			t.Fatal(err)
		}
	}
	link("tree/own", "tree/twin") // both names inside: nothing leads out
	link("outside/f", "tree/f")
	link("outside/f", "tree/g")
	link("outside/f", "tree/skip/f")
	tree := filepath.Join(base, "tree")
	found, err := FindHazards([]string{tree}, filepath.Join(tree, "skip"))
	got := found.Linked
	slices.Sort(got)
	if want := []string{filepath.Join(tree, "f"), filepath.Join(tree, "g")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	twice, err := FindHazards([]string{tree, tree}, filepath.Join(tree, "skip"))
	if err != nil || !slices.Equal(twice.Linked, got) {
		t.Errorf("a directory that is named twice: %v, %v", twice.Linked, err)
	}
}
