package base

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/testwait"
)

// change is a difference between two trees: a path and its modes.
func change(p string, old, new git.Mode) git.Delta {
	return git.Delta{Path: p, Old: git.Entry{Mode: old}, New: git.Entry{Mode: new}}
}

func TestLayerOf(t *testing.T) {
	const dir, reg, sub, no = git.Directory, git.Regular, git.Gitlink, git.Absent
	for _, c := range []struct {
		what    string
		changes []git.Delta
		written string
		gone    string
	}{
		{"nothing", nil, "", ""},
		{"a file", []git.Delta{change("d", dir, dir), change("d/f", reg, reg)}, "d/f", ""},
		{"a mode", []git.Delta{change("f", reg, git.Executable)}, "f", ""},
		{"gone", []git.Delta{change("d", dir, dir), change("d/f", reg, no)}, "", "d/f"},
		{"a directory gone", []git.Delta{change("d", dir, no), change("d/e", dir, no), change("d/e/f", reg, no), change("d/g", reg, no)}, "", "d"},
		{"a directory for a file", []git.Delta{change("f", reg, no), change("f", no, dir), change("f/g", no, reg)}, "f/g", ""},
		{"a file for a directory", []git.Delta{change("d", no, reg), change("d", dir, no), change("d/e", dir, no), change("d/e/f", reg, no)}, "d", ""},
		{"a submodule", []git.Delta{change("s", no, sub)}, "s", ""},
		{"a submodule moves on", []git.Delta{change("s", sub, sub)}, "", ""},
		{"a submodule gone", []git.Delta{change("s", sub, no)}, "", "s"},
		{"a submodule for a file", []git.Delta{change("s", reg, sub)}, "s", ""},
		{"a file for a submodule", []git.Delta{change("s", sub, reg)}, "s", ""},
		{"a submodule for a directory", []git.Delta{change("d", no, sub), change("d", dir, no), change("d/e", dir, no), change("d/e/f", reg, no), change("d/g", reg, no)}, "d", "d/e d/g"},
		{"a directory for a submodule", []git.Delta{change("d", sub, no), change("d", no, dir), change("d/g", no, reg)}, "d/g", ""},
	} {
		l := layerOf(c.changes)
		if got := strings.Join(l.written, " "); got != c.written {
			t.Errorf("%s: written %q, want %q", c.what, got, c.written)
		}
		if got := strings.Join(l.gone, " "); got != c.gone {
			t.Errorf("%s: gone %q, want %q", c.what, got, c.gone)
		}
	}
}

// A line of history does not become a pile of layers: what differs much is a
// checkout, and what is deepest is not built upon.
func TestLayersAreBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	tree := map[string]node{}
	for i := range 600 {
		tree[fmt.Sprintf("d%d/f%d", i%7, i)] = file("0")
	}
	var trees []map[string]node
	for i := range 7 {
		trees = append(trees, maps.Clone(tree))
		names := slices.Sorted(maps.Keys(tree))
		for range 150 {
			tree[names[rng.IntN(len(names))]] = file(fmt.Sprint(i))
		}
	}
	w := newWorld(t, git.SHA1, trees...)
	w.layersOnly()
	var depths []int
	for _, c := range w.commits {
		depths = append(depths, len(w.ensure(c).Layers))
	}
	if slices.Max(depths) != maxDepth || !slices.Contains(depths[1:], 1) {
		t.Errorf("layers: %v", depths)
	}
	for _, c := range w.commits[5:] {
		w.check(w.ensure(c), c)
	}
}

// A file that did not change since the base before keeps its time, wherever the new layer lies: build tools
// would build again what depends on it. One that changed gets a new time.
func TestTimesOfUnchangedFiles(t *testing.T) {
	t.Parallel()
	tree := func(value, other string) map[string]node {
		files := map[string]node{"d/value": file(value), "other": file(other)}
		for i := range 200 { // so that a layer is cheaper than a checkout
			files[fmt.Sprintf("many/%d", i)] = file("x")
		}
		return files
	}
	w := newWorld(t, git.SHA1, tree("3", "0"), tree("2", "1"), tree("2", "2"), tree("3", "3"))
	w.layersOnly()
	var bases []Base
	mtime := func(n int, name string) int64 {
		t.Helper()
		for _, layer := range bases[n].Layers {
			if fi, err := os.Lstat(filepath.Join(layer, name)); err == nil {
				return fi.ModTime().Unix()
			}
		}
		t.Fatalf("base %d has no %s", n, name)
		return 0
	}
	for _, c := range w.commits {
		second := time.Now().Unix()
		testwait.Until(t, "a second begins", func() bool { return time.Now().Unix() > second })
		bases = append(bases, w.ensure(c))
		w.check(bases[len(bases)-1], c)
	}
	if !slices.Contains([]int{1, 2}, len(bases[2].Layers)) || bases[2].Layers[0] == bases[1].Layers[0] {
		t.Errorf("no layer of its own: %v", bases[2].Layers)
	}
	if one, two := mtime(1, "d/value"), mtime(2, "d/value"); one != two {
		t.Errorf("what did not change was made at %d, and then at %d", one, two)
	}
	if one, two := mtime(1, "other"), mtime(2, "other"); one >= two {
		t.Errorf("what changed was made at %d, and then at %d", one, two)
	}
	if one, two := mtime(2, "other"), mtime(3, "other"); one >= two {
		t.Errorf("what changed was made at %d, and then at %d", one, two)
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 999: "999 files", 1000: "1,000 files", 90000: "90,000 files", 1234567: "1,234,567 files"} {
		if got := amount(n, "file"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Whatever is not an index of the form that is known is refused.
func TestRestampRefuses(t *testing.T) {
	t.Parallel()
	by := map[string]times{"a": {changed: unix.Timespec{Sec: 1}, modified: unix.Timespec{Sec: 2}}}
	sealed := func(body string) []byte { return append([]byte(body), checksum(git.SHA1, []byte(body))...) }
	entry := strings.Repeat("x", 62) + "a" + "\x00"
	good := sealed("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + entry)
	if n, err := restamp(slices.Clone(good), git.SHA1, by); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for what, index := range map[string][]byte{
		"nothing":         nil,
		"short":           sealed("DIRC"),
		"another version": sealed("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + entry),
		"another file":    sealed("PACK\x00\x00\x00\x02\x00\x00\x00\x01" + entry),
		"too few":         sealed("DIRC\x00\x00\x00\x02\x00\x00\x00\x02" + entry),
		"no end":          sealed("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.TrimRight(entry, "\x00")),
		"wrong checksum":  append(slices.Clone(good[:len(good)-1]), good[len(good)-1]^1),
	} {
		before := slices.Clone(index)
		if n, err := restamp(index, git.SHA1, by); err == nil || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
		if what == "wrong checksum" && !slices.Equal(index, before) {
			t.Errorf("%s: changed", what)
		}
	}
}
