package base

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"cordon/internal/git"
)

var formats = []git.Format{git.SHA1, git.SHA256}

// submodule is the name of a commit that nobody has.
func submodule(format git.Format, n int) node {
	return node{git.Gitlink, fmt.Sprintf("%0*x", len(format.Zero()), n+1)}
}

func odd(format git.Format) map[string]node {
	return map[string]node{
		"README":                 file("hello\n"),
		"empty":                  file(""),
		"run":                    {git.Executable, "#!/bin/sh\n"},
		"link":                   link("README"),
		"dangling":               link("/nowhere/at all"),
		"dir/deep/er/f":          file("f"),
		"dir/deep/g":             file("g"),
		"new\nline/\ttab":        file("odd"),
		"\xff\xfe/\x80":          file("not utf-8"),
		" lead/-dash/:(x)":       file("pathspec"),
		"sub/module":             submodule(format, 1),
		".gitattributes":         file("*.crlf text eol=crlf\n*.id ident\n*.enc working-tree-encoding=UTF-16\n"),
		"a.crlf":                 file("one\ntwo\n"),
		"a.id":                   file("$Id$\n"),
		"a.enc":                  file("text\n"),
		strings.Repeat("n", 255): file("long"),
	}
}

// Files are the blobs, whatever the attributes say; the rest is as plain git makes
// it.
func TestFull(t *testing.T) {
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			tree := odd(format)
			w := newWorld(t, format, tree)
			var last, total int
			b, err := w.store.Ensure(context.Background(), w.host.Repo, w.commits[0], func(done, all int) { last, total = done, all })
			if err != nil {
				t.Fatal(err)
			}
			if b.Made != "checkout of 15 files" || last != total || total < 15 {
				t.Errorf("%q, %d of %d", b.Made, last, total)
			}
			if len(b.Layers) != 1 || !slices.Equal(b.Submodules, []string{"sub/module"}) {
				t.Errorf("%+v", b)
			}
			got := merged(t, b.Layers)
			for p, n := range tree {
				if n.mode != git.Gitlink && got[p].content != n.content {
					t.Errorf("%q is %q, want %q", p, got[p].content, n.content)
				}
				delete(got, p)
			}
			for p, s := range got {
				if !s.mode.IsDir() {
					t.Errorf("%q is too much", p)
				}
			}
			w.checkIndex(b, w.commits[0], merged(t, b.Layers))
			again := w.ensure(w.commits[0])
			if again.Made != "" || !slices.Equal(again.Layers, b.Layers) {
				t.Errorf("a second time: %+v", again)
			}
		})
	}
}

// Two commits with one tree have one base, and a commit that changes nothing but
// modes or submodules has its own.
func TestLayersOfFewChanges(t *testing.T) {
	t.Parallel()
	one := map[string]node{"a": file("x"), "b/c": file("y"), "s": submodule(git.SHA1, 1)}
	mode := maps.Clone(one)
	mode["a"] = node{git.Executable, "x"}
	sub := maps.Clone(one)
	sub["s"] = submodule(git.SHA1, 2)
	w := newWorld(t, git.SHA1, one, mode, one, sub, map[string]node{}, one)
	w.layersOnly()
	made := []string{"checkout of 2 files", "layer of 1 change on ", "", "layer of 1 change on ", "layer of 3 changes on ", ""}
	for i, c := range w.commits {
		b := w.ensure(c)
		w.check(b, c)
		if (b.Made == "") != (made[i] == "") || !strings.HasPrefix(b.Made, made[i]) {
			t.Errorf("commit %d: %q, want %q", i, b.Made, made[i])
		}
	}
}

// grow is a random line of history with everything that a tree can do to another.
func grow(rng *rand.Rand, format git.Format, n int) []map[string]node {
	dirs := []string{"a", "b", "a/b", "a/b/c", "d\nl", "\xff", "x y", "z"}
	names := []string{"f", "g", "a", "b", "c", "\x80", "q\nr", "-o"}
	tree := map[string]node{}
	var all []map[string]node
	for i := range n {
		for range 1 + rng.IntN(12) {
			dir := dirs[rng.IntN(len(dirs))]
			p := path.Join(dir, names[rng.IntN(len(names))])
			switch rng.IntN(12) {
			case 0:
				p = dir
				fallthrough
			case 1, 2, 3:
				set(tree, p, file(fmt.Sprintf("content %d", rng.IntN(1000))))
			case 4:
				set(tree, p, file(""))
			case 5:
				set(tree, p, link(names[rng.IntN(len(names))]))
			case 6:
				set(tree, p, submodule(format, rng.IntN(3)))
			case 7:
				clear(tree, dir)
			case 8, 9:
				clear(tree, p)
			case 10:
				if n, ok := tree[p]; ok && n.mode != git.Gitlink && n.mode != git.Symlink {
					n.mode ^= git.Regular ^ git.Executable
					tree[p] = n
				}
			case 11: // a directory moves
				to := dirs[rng.IntN(len(dirs))] + "/moved"
				for _, q := range slices.Sorted(maps.Keys(tree)) {
					if n, ok := tree[q]; ok && strings.HasPrefix(q, p+"/") {
						delete(tree, q)
						set(tree, to+strings.TrimPrefix(q, p), n)
					}
				}
			}
		}
		set(tree, "count", file(fmt.Sprint(i))) // no two are the same
		all = append(all, maps.Clone(tree))
	}
	return all
}

func clear(tree map[string]node, p string) {
	maps.DeleteFunc(tree, func(q string, _ node) bool { return q == p || strings.HasPrefix(q, p+"/") })
}

// set puts something at a path and takes away what is in its way.
func set(tree map[string]node, p string, n node) {
	clear(tree, p)
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		delete(tree, d)
	}
	tree[p] = n
}

// ensureOn makes a base on any other one, where Ensure would choose. Like Ensure it
// returns what is there already.
func (w *world) ensureOn(rng *rand.Rand, commit git.OID) Base {
	w.t.Helper()
	ctx := context.Background()
	tree, err := w.host.TreeOf(ctx, commit)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := w.store.List()
	if err != nil {
		w.t.Fatal(err)
	}
	there := slices.ContainsFunc(all, func(k Kept) bool { return k.Key == string(tree) })
	all = slices.DeleteFunc(all, func(k Kept) bool { return k.Depth >= maxDepth })
	if there || len(all) == 0 {
		return w.ensure(commit)
	}
	return w.makeOn(all[rng.IntN(min(len(all), 4))], commit)
}

// makeOn makes a base as a snapshot of another one, or as a layer on it where that
// cannot be.
func (w *world) makeOn(k Kept, commit git.OID) Base {
	w.t.Helper()
	below, err := w.store.load(k.Key)
	if err != nil {
		w.t.Fatal(err)
	}
	if !w.store.flat(below) {
		return w.makeLayerOn(below, commit)
	}
	o, changes := w.order(below, commit)
	b, err := w.store.makeFlat(context.Background(), o, below[0], changes)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) makeLayerOn(below chain, commit git.OID) Base {
	w.t.Helper()
	o, changes := w.order(below, commit)
	b, err := w.store.makeLayer(context.Background(), o, below, changes)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) order(below chain, commit git.OID) (order, []git.Delta) {
	w.t.Helper()
	ctx := context.Background()
	tree, err := w.host.TreeOf(ctx, commit)
	if err != nil {
		w.t.Fatal(err)
	}
	changes, err := w.host.TreeChanges(ctx, git.OID(below[0].Key), tree)
	if err != nil {
		w.t.Fatal(err)
	}
	return order{source: w.host.Repo, commit: commit, tree: tree}, changes
}

func randomHistory(t *testing.T, format git.Format, seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t, format, grow(rng, format, n)...)
	depths := map[int]int{}
	rng.Shuffle(n, func(i, j int) { w.commits[i], w.commits[j] = w.commits[j], w.commits[i] })
	for i, c := range w.commits {
		b := Base{}
		if rng.IntN(4) > 0 {
			b = w.ensureOn(rng, c)
		} else {
			b = w.ensure(c)
		}
		w.check(b, c)
		depths[len(b.Layers)]++
		if t.Failed() {
			t.Fatalf("seed %d, commit %d: %v, %s", seed, i, b.Layers, b.Made)
		}
	}
	t.Logf("layers: %v", depths)
	for depth := range depths {
		if depth > maxDepth {
			t.Errorf("%d layers", depth)
		}
	}
	if n > 20 && depths[maxDepth] == 0 && !w.store.Snapshots() {
		t.Errorf("layers never piled up: %v", depths)
	}
}

func TestRandomHistory(t *testing.T) {
	for i, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			randomHistory(t, format, uint64(i), 10)
		})
	}
}

func TestRandomHistories(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			randomHistory(t, formats[seed%2], 100+seed, 40)
		})
	}
}

// ensureOnLast makes a base as a layer on the one that was made last.
func (w *world) ensureOnLast(commit git.OID) Base {
	w.t.Helper()
	all, err := w.store.List()
	if err != nil {
		w.t.Fatal(err)
	}
	if len(all) == 0 {
		return w.ensure(commit)
	}
	last := slices.MaxFunc(all, func(a, b Kept) int { return a.Made.Compare(b.Made) })
	below, err := w.store.load(last.Key)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.makeLayerOn(below, commit)
}
