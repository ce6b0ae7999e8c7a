package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The alphabet is small so that paths and patterns often meet.
var (
	names = rapid.SampledFrom([]string{"a", "b", "ab", "A", "é", "e\u0301", ".envrc", ".claude", ".vscode", "tasks.json", "a.go", "s1", "s10", "\xff"})
	globs = rapid.SampledFrom([]string{"a", "b", "ab", "A", "é", ".envrc", ".claude", ".vscode", "tasks.json", "s1", "*", "**", "?", "a*", "*.go", "[ab]", "[!a]", "{a,s1}"})
)

func drawPath(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(names, 1, 5).Draw(t, label), "/")
}

func drawPattern(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(globs, 1, 4).Draw(t, label), "/")
}

func drawPatterns(t *rapid.T, label string) []string {
	one := rapid.Custom(func(t *rapid.T) string { return drawPattern(t, label) })
	return rapid.SliceOfN(one, 0, 3).Draw(t, label)
}

func drawFilesystem(t *rapid.T) Filesystem {
	return Filesystem{
		WriteRoots: drawPatterns(t, "write_roots"),
		DenyWrite:  drawPatterns(t, "deny_write"),
		Scratch:    drawPatterns(t, "scratch"),
	}
}

func drawLocation(t *rapid.T) Location {
	at := tree
	at.Fold = rapid.Bool().Draw(t, "fold")
	return at
}

func TestEmptyRootsLandNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := drawFilesystem(rt)
		fs.WriteRoots = nil
		path := drawPath(rt, "path")
		if got := rulesOf(t, drawLocation(rt), fs).Judge(path); got.Class.Lands() {
			rt.Fatalf("%q lands by %s", path, got.Rule)
		}
		fs.Scratch = nil
		if got := rulesOf(t, drawLocation(rt), fs).Judge(path); got.Class != Violation {
			rt.Fatalf("%q is %s by %s", path, got.Class, got.Rule)
		}
	})
}

func TestComponentBoundaries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := rapid.StringMatching(`[a-z]{1,4}(/[a-z]{1,4}){0,3}`).Draw(rt, "root")
		tail := rapid.StringMatching(`[a-z0-9._-]{1,3}`).Draw(rt, "tail")
		r := rulesOf(t, drawLocation(rt), roots(root))
		if got := r.Judge(root + tail); got.Class != Violation {
			rt.Fatalf("root %q lets %q be %s", root, root+tail, got.Class)
		}
		if got := r.Judge(root + "/" + "x" + tail); got.Class != Landing {
			rt.Fatalf("root %q does not cover %q: %s", root, root+"/x"+tail, got.Rule)
		}
	})
}

func TestAddingADenyOnlyDenies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		before := rulesOf(t, at, fs).Judge(path)
		fs.DenyWrite = append(fs.DenyWrite, drawPattern(rt, "another deny"))
		after := rulesOf(t, at, fs).Judge(path)
		if before.Class != after.Class && after.Class != Violation {
			rt.Fatalf("%q went from %s to %s", path, before.Class, after.Class)
		}
	})
}

func TestAddingARootOnlyAllows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		before := rulesOf(t, at, fs).Judge(path)
		fs.WriteRoots = append(fs.WriteRoots, drawPattern(rt, "another root"))
		after := rulesOf(t, at, fs).Judge(path)
		if before.Class == Landing && after.Class != Landing {
			rt.Fatalf("%q landed and is now %s by %s", path, after.Class, after.Rule)
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		want := rulesOf(t, at, fs).Judge(path).Class
		fs.WriteRoots = rapid.Permutation(fs.WriteRoots).Draw(rt, "roots")
		fs.DenyWrite = rapid.Permutation(fs.DenyWrite).Draw(rt, "denies")
		fs.Scratch = rapid.Permutation(fs.Scratch).Draw(rt, "scratch")
		if got := rulesOf(t, at, fs).Judge(path); got.Class != want {
			rt.Fatalf("%q is %s in one order and %s in another", path, want, got.Class)
		}
	})
}

// What lies below a path of some class has the same class or is denied.
func TestBelow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		r := rulesOf(t, at, fs)
		above, below := r.Judge(path), r.Judge(path+"/"+drawPath(rt, "below"))
		switch {
		case above.Class == Landing && below.Class == Violation && !isDeny(below.Rule):
			rt.Fatalf("%q lands, what is below it is a violation by %s", path, below.Rule)
		case above.Class == Scratch && below.Class != Scratch && !isDeny(below.Rule):
			rt.Fatalf("%q is scratch, what is below it %s by %s", path, below.Class, below.Rule)
		case strings.HasPrefix(above.Rule, "deny_write") && below.Class != Violation:
			rt.Fatalf("%q is denied, what is below it %s", path, below.Class)
		}
	})
}

func isDeny(rule string) bool {
	return strings.HasPrefix(rule, "deny_write") || strings.HasPrefix(rule, "built-in")
}

// However often it climbs, a pattern with .. says nothing about the tree.
func TestClimbingStaysOutside(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		before := rulesOf(t, at, fs).Judge(path)
		up := strings.Repeat("../", rapid.IntRange(1, 6).Draw(rt, "ups"))
		place := rapid.SampledFrom([]string{"", "**", "wt-1", "wt-1/**", "state/wt-1/**", "*/**"}).Draw(rt, "place")
		fs.DenyWrite = append(fs.DenyWrite, up+place)
		if after := rulesOf(t, at, fs).Judge(path); after != before {
			rt.Fatalf("%q was %v, and with %q it is %v", path, before, up+place, after)
		}
	})
}

// A landing path whose components hold a protected name was lifted by a root
// that has that name as a component of its own.
func TestProtectedNeedsAName(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, at, path := drawFilesystem(rt), drawLocation(rt), drawPath(rt, "path")
		if got := rulesOf(t, at, fs).Judge(path); got.Class != Landing {
			return
		}
		written := strings.Join(append(fs.WriteRoots, fs.Scratch...), "/")
		for _, name := range []string{".envrc", ".claude", ".vscode/tasks.json"} {
			if strings.Contains("/"+path+"/", "/"+name+"/") && !strings.Contains("/"+written+"/", "/"+name+"/") {
				rt.Fatalf("%q lands by %q, which do not name %s", path, fs.WriteRoots, name)
			}
		}
	})
}

func TestFoldIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if f := fold(s); fold(f) != f {
			t.Fatalf("fold(%q) = %q, and folded again %q", s, f, fold(f))
		}
		if fold(strings.ToLower(s)) != fold(s) && isASCII(s) {
			t.Fatalf("%q and its lower case fold to different names", s)
		}
	})
}
