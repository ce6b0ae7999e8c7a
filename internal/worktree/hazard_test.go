package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for held, want := range map[string]string{"own": "twin", "twin": "own"} {
		if twins, err := found.Twins([]string{filepath.Join(tree, held)}); err != nil || !slices.Equal(twins, []string{filepath.Join(tree, want)}) {
			t.Errorf("%s: %v, %v", held, twins, err)
		}
	}
	if err := os.Symlink("f", filepath.Join(tree, "symbolic")); err != nil {
		t.Fatal(err)
	}
	for i := range maxFixed + 1 {
		name := filepath.Join("many", strings.Repeat("x", i%200+1)+string(rune('a'+i/200)))
		testfile.Write(t, filepath.Join(base, "outside", name), "x")
		if err := os.MkdirAll(filepath.Join(tree, "many"), 0o755); err != nil {
			t.Fatal(err)
		}
		link("outside/"+name, "tree/"+name)
	}
	if found, err := FindHazards([]string{tree}); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("%d, %v", len(found.Linked), err)
	}
}
