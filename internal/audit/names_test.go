package audit

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/git"
)

func TestDotGit(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".Git": true, "git~1": true, "GIT~1": true,
		".git.": true, ".git ": true, ".git...": true, ".git . .": true,
		".git::$INDEX_ALLOCATION": true, ".git:stream": true,
		".g\u200cit": true, "\ufeff.git": true, ".gi\u206ft": true, ".GI\u200dT": true,

		"git": false, ".gitignore": false, ".gitmodules": false, ".github": false, "x.git": false, ".git2": false,
		"git~2": false, "": false, ".": false, "..": false, ".g": false, "a:.git": false,
	} {
		if got := DotGit(name); got != want {
			t.Errorf("DotGit(%q) is %v", name, got)
		}
	}
}

func TestBadName(t *testing.T) {
	for p, want := range map[string]string{
		"src/a.txt":          "",
		"src/été/naïve café": "",
		"日本語/ファイル":           "",
		"src/-rf":            "",
		"src/a:b":            "",
		"..a/b..":            "",

		"src/\xff":                        "UTF-8",
		"src/a\nb":                        "control",
		"src/\x1b[2J":                     "control",
		"src/\x7f":                        "control",
		"src/\u0085":                      "control",
		"src/x\u202etxt":                  "invisible",
		"src/x\u2066txt":                  "invisible",
		"src/\u200b":                      "invisible",
		"src/a\u2028b":                    "invisible",
		"src/a\u3164b":                    "invisible",
		"src/a\ufe0fb":                    "invisible",
		"src/a\U000e0100b":                "invisible",
		"src/.GIT/config":                 ".git",
		".git/config":                     ".git",
		"src/git~1":                       ".git",
		"":                                "empty",
		"a//b":                            "empty",
		"/a":                              "empty",
		"a/../b":                          "dot",
		"./a":                             "dot",
		`a\b`:                             "backslash",
		`..\..\evil`:                      "backslash",
		"src/" + strings.Repeat("x", 256): "255",

		strings.Repeat("x/", 1919) + "xx":  "",
		strings.Repeat("x/", 1919) + "xxx": "longer than 3840",
	} {
		got := badName(p)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("badName(%q) is %q", p, got)
		}
	}
}

func TestFolded(t *testing.T) {
	same := [][2]string{
		{"README", "readme"}, {"Src/A", "src/a"}, {"é", "e\u0301"}, {"É", "e\u0301"}, {"straße", "STRASSE"},
		{"\u212a", "k"}, {"ſ", "s"}, {"a.", "a"}, {"a /b", "a/b"}, {"dir./x", "dir/x"}, {"Σ", "ς"}, {"ﬁ", "FI"},
		{"\u13a0", "\uab70"}, {"\u13f8", "\u13f0"}, {"Å", "\u212b"}, {"a\u200bb", "ab"}, {"\u00adx", "X"},
	}
	for _, p := range same {
		if folded(p[0]) != folded(p[1]) {
			t.Errorf("%q and %q are not one: %q, %q", p[0], p[1], folded(p[0]), folded(p[1]))
		}
	}
	for _, p := range [][2]string{{"a", "b"}, {"a/b", "ab"}, {"a.b", "ab"}, {"a b", "ab"}, {"e", "é"}, {".a", "a"}} {
		if folded(p[0]) == folded(p[1]) {
			t.Errorf("%q and %q are one", p[0], p[1])
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.String().Draw(rt, "name")
		if once := folded(s); folded(once) != once {
			rt.Fatalf("folding %q twice is %q, once %q", s, folded(once), once)
		}
	})
}

// outcomeOf is a tree of nothing but changes. Unlike a real one it may have a file
// where it has a directory.
func outcomeOf(files map[string]git.Entry) *outcome {
	o := newOutcome(git.ListingOf(nil), nil)
	for p, e := range files {
		o.set(p, e)
	}
	return o
}

// What is folded name by name is folded as a whole, so that the doubles of a path
// can be found level by level.
func TestFoldedByName(t *testing.T) {
	part := rapid.Custom(func(t *rapid.T) string {
		odd := rapid.SampledFrom([]string{"a", "É", "e", "\u0301", "\u0338", ". ", "\xff", "\xe2\x82", "ß", "Σ", "\u13a0", "\u1100", "\u1161", "=", "K"})
		return strings.Join(rapid.SliceOfN(odd, 1, 5).Draw(t, "part"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(part, 1, 4).Draw(rt, "path")
		var each []string
		for _, n := range names {
			each = append(each, folded(n))
		}
		if got, want := strings.Join(each, "/"), folded(strings.Join(names, "/")); got != want {
			rt.Fatalf("%q is folded to %q by name and to %q as a whole", names, got, want)
		}
	})
}

// collisions agrees with comparing every pair.
func TestCollisionsAgreeWithComparingAll(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "A", "b", "é", "e\u0301", "É", "a.", "c"})
	one := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path"), "/")
	})
	rapid.Check(t, func(rt *rapid.T) {
		tree := map[string]git.Entry{}
		for _, p := range rapid.SliceOfN(one, 0, 6).Draw(rt, "tree") {
			tree[p] = file
		}
		added := rapid.SliceOfN(one, 0, 4).Draw(rt, "added")
		for _, p := range added {
			tree[p] = file
		}
		hits := collisions(added, outcomeOf(tree))
		for _, p := range added {
			if _, got := hits[p]; got != collidesWithAny(p, tree) {
				rt.Fatalf("%q collides: %v, in %v", p, got, keys(tree, nil))
			}
		}
	})
}

func collidesWithAny(p string, tree map[string]git.Entry) bool {
	places := map[string]bool{}
	for q := range tree {
		for d := q; d != "."; d = path.Dir(d) {
			places[d] = true
		}
	}
	for _, mine := range prefixes(p) {
		for other := range places {
			if mine != other && folded(mine) == folded(other) {
				return true
			}
		}
	}
	return false
}

func TestCollisionNamesTheClosest(t *testing.T) {
	tree := map[string]git.Entry{"src/readme": file, "src/README": file, "SRC/x": file}
	hits := collisions([]string{"src/README"}, outcomeOf(tree))
	if hits["src/README"] != "src/readme" {
		t.Errorf("src/README collides with %q", hits["src/README"])
	}
}

// A rename that differs in case only leaves one name, and is none.
func TestCaseOnlyRenameIsNoCollision(t *testing.T) {
	list := []Change{{Path: "readme", Kind: Deleted, Old: file}, added("README")}
	markCollisions(list, newOutcome(git.ListingOf([]git.File{{Path: "readme", Entry: file}}), list))
	if list[1].Kind != Added {
		t.Errorf("the new name is %s %s", list[1].Kind, list[1].Detail)
	}
	list = []Change{added("README")} // the control: the old name stays
	markCollisions(list, newOutcome(git.ListingOf([]git.File{{Path: "readme", Entry: file}}), list))
	if list[0].Kind != Collision {
		t.Errorf("two names are %s", list[0].Kind)
	}
}
