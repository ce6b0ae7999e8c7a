package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/git"
	"cordon/internal/policy"
)

func links(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(p string) (string, bool) { target, ok := m[p]; return target, ok }
}

func TestLeadsOut(t *testing.T) {
	src := writes(t, "src")
	for _, c := range []struct {
		name  string
		tree  []string // link, target, …; the first is the one asked about
		rules policy.Rules
		want  string // part of the reason; "" for none
	}{
		{"a neighbour", []string{"src/l", "a"}, src, ""},
		{"what is not there", []string{"src/l", "missing/deep"}, src, ""},
		{"down and up", []string{"src/l", "d/../a"}, src, ""},
		{"out and back by name", []string{"src/l", "../src/a"}, src, ""},
		{"itself as a directory", []string{"src/l", "."}, src, ""},
		{"the root itself", []string{"src/d/l", ".."}, src, ""},

		{"an absolute path", []string{"src/l", "/etc/passwd"}, src, "absolute"},
		{"the worktree by its absolute path", []string{"src/l", "/w/tree/src/a"}, src, "absolute"},
		{"above the top", []string{"src/l", "../../x"}, src, "out of the tree"},
		{"above the top and back", []string{"src/l", "../../tree/src/a"}, src, "out of the tree"},
		{"another directory", []string{"src/l", "../docs/d"}, src, "docs/d: outside write_roots"},
		{"the top", []string{"src/l", ".."}, src, "top of the tree"},
		{"a boundary of components", []string{"src/l", "../src2/a"}, src, "src2/a"},
		{".git", []string{"src/l", "../.git/config"}, src, ".git"},
		{".git in other letters", []string{"src/l", "../.GIT"}, src, ".git"},
		{".git on the way", []string{"src/l", "../.git/../src/a"}, src, ".git"},
		{"a link called .git", []string{"src/.git", "a"}, src, ".git"},
		{"a loop", []string{"src/l", "l"}, src, "too many"},
		{"a loop of two", []string{"src/l", "m", "src/m", "l"}, src, "too many"},
		{"through another link", []string{"src/l", "m/x", "src/m", "../docs"}, src, "docs/x"},
		{"through a link to an absolute path", []string{"src/l", "m/x", "src/m", "/etc"}, src, "absolute"},
		{"up from where another link leads", []string{"src/l", "m/../../x", "src/m", "."}, src, "out of the tree"},
		{"below a link", []string{"src/m/l", "x", "src/m", "../docs"}, src, "docs/l"},
		{"an empty target", []string{"src/l", ""}, src, ""},

		{"the top, when all of it may be written", []string{"src/l", ".."}, writes(t, "."), ""},
		{"the top, when a root has an odd name", []string{"x/l", ".."}, writes(t, "x"), "top of the tree"},
		{"something protected", []string{"src/l", "../.envrc"}, writes(t, "."), ".envrc"},
		{"scratch", []string{"src/l", "tmp/x"}, rulesOf(t, policy.Filesystem{WriteRoots: []string{"src"}, Scratch: []string{"src/tmp"}}), "scratch"},
		{"nothing may be written", []string{"src/l", "a"}, policy.Rules{}, "no policy"},
	} {
		got := leadsOut(c.tree[0], links(c.tree...), c.rules)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// A chain as long as the kernel follows is followed, and no longer one.
func TestManyLinks(t *testing.T) {
	chain := func(n int) []string {
		var pairs []string
		for i := range n {
			pairs = append(pairs, "src/l"+strings.Repeat("x", i), "l"+strings.Repeat("x", i+1))
		}
		return pairs
	}
	if why := leadsOut("src/l", links(chain(maxLinks)...), writes(t, "src")); why != "" {
		t.Errorf("%d links: %s", maxLinks, why)
	}
	if why := leadsOut("src/l", links(chain(maxLinks+1)...), writes(t, "src")); why == "" {
		t.Errorf("%d links are followed", maxLinks+1)
	}
}

// A link that nobody touched is bent by one that was.
func TestBentLinks(t *testing.T) {
	lookup := links("src/old", "way/../../../x", "src/way", ".", "src/far", "other/../../../../x")
	tree := outcomeOf(map[string]git.Entry{"src/old": link, "src/way": link, "src/far": link})
	got := bentChanges([]Change{{Path: "src/way", Kind: Modified, Old: link, New: link}}, tree, lookup)
	if len(got) != 1 || got[0].Path != "src/old" || got[0].Kind != LinkOut {
		t.Fatalf("bent: %+v", got)
	}
	if f := Classify(got, writes(t, "."))[0]; f.Class != Violation {
		t.Errorf("a bent link is %s", f.Class)
	}
	// Without a changed link on the way, a link is what the base made of it.
	if got := bentChanges([]Change{added("src/new")}, tree, lookup); len(got) != 0 {
		t.Errorf("bent by nothing: %+v", got)
	}
	if got := bentChanges([]Change{{Path: "src/way", Kind: Modified, Old: link, New: link, Ignored: true}}, tree, lookup); len(got) != 0 {
		t.Errorf("bent by what does not land: %+v", got)
	}
}

// FuzzLeadsOut makes the tree it is given and asks the operating system where
// each link leads. follow never calls a place inside when it is outside, and
// where both know the end, it is the same one. A line is a directory, or a link
// with its target after ">".
func FuzzLeadsOut(f *testing.F) {
	for _, s := range []string{
		"a/l>../b\nb", "l>..", "a/l>../..", "a\nl>a/..", "d>.\na\na/l>../d/../..", "a/b/c\nl>a/b\nm>l/../../..",
		"l>m\nm>l", "a>/\nb>a/etc", "l>.git", ".git\nl>.git/..", "a/b\na/b/l>../../..", "l>\x00", "a/l>./././../a/.", "x>y/\ny",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if len(spec) > 400 || strings.ContainsRune(spec, 0) {
			return
		}
		if wrong := compareLinks(t, spec); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// The same with trees that are made to be full of links.
func TestLinksLeadWhereTheSystemSays(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	step := rapid.SampledFrom([]string{"a", "b", "c", "..", "..", "."})
	line := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "name"), "/")
		if rapid.Bool().Draw(t, "is a link") {
			text += ">" + strings.Join(rapid.SliceOfN(step, 1, 5).Draw(t, "target"), "/")
		}
		return text
	})
	rapid.Check(t, func(rt *rapid.T) {
		spec := strings.Join(rapid.SliceOfN(line, 1, 10).Draw(rt, "tree"), "\n")
		if wrong := compareLinks(t, spec); wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// compareLinks makes a tree and says which of its links is misjudged.
func compareLinks(t *testing.T, spec string) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// Far enough down that a few steps up are still in a place of ours.
	top := filepath.Join(dir, "1", "2", "3", "4", "top")
	build(t, top, spec)
	s, err := walk(top, false, false, maxEntries, nil)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]string{}
	for _, n := range s.nodes {
		if n.isLink() {
			targets[n.path] = n.target
		}
	}
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	for l := range targets {
		if wrong := compareLink(real, l, func(p string) (string, bool) { target, ok := targets[p]; return target, ok }); wrong != "" {
			return wrong
		}
	}
	return ""
}

// build makes a tree without ever writing outside it.
func build(t *testing.T, top, spec string) {
	t.Helper()
	if err := os.MkdirAll(top, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for i, line := range strings.Split(spec, "\n") {
		if i > 12 {
			return
		}
		name, target, isLink := strings.Cut(line, ">")
		if !isLink {
			_ = root.MkdirAll(name, 0o700) // what cannot be made is not in the tree
			continue
		}
		_ = root.MkdirAll(filepath.Dir(name), 0o700)
		_ = root.Symlink(target, name)
	}
}

func compareLink(top, l string, lookup func(string) (string, bool)) string {
	final, why := follow(l, lookup)
	if why != "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(filepath.Join(top, l))
	if err != nil {
		return "" // it leads to nothing, now
	}
	if want := filepath.Join(top, final); real != want {
		return fmt.Sprintf("%q is said to lead to %q and leads to %q", l, want, real)
	}
	if real != top && !strings.HasPrefix(real, top+"/") {
		return fmt.Sprintf("%q is said to stay inside %q and leads to %q", l, top, real)
	}
	return ""
}
