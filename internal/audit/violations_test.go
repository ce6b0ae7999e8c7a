package audit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/git"
	"cordon/internal/policy"
)

// The alphabet is small, so that paths and patterns meet and changes repeat.
var (
	someNames = rapid.SampledFrom([]string{"s1", "s10", "s", "a", "A", "é", ".envrc", ".vscode", "x.go", "\xff", "a\nb"})
	someGlobs = rapid.SampledFrom([]string{"s1", "s", "a", "é", ".envrc", ".vscode", "*", "**", "*.go", "s?"})
	someKinds = rapid.SampledFrom([]Kind{
		Added, Modified, Deleted, Chmod, Retyped, LinkOut, Nested, GitlinkHit, Special, SetID, HardLink,
		BadName, Collision, TooLarge, Unreadable, Commit, Replaced, HostChange, "a kind of tomorrow",
	})
)

func drawPath(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(someNames, 1, 4).Draw(t, "path"), "/")
}

func drawPatterns(t *rapid.T, label string) []string {
	one := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(someGlobs, 1, 3).Draw(t, label), "/")
	})
	return rapid.SliceOfN(one, 0, 3).Draw(t, label)
}

func drawChange(t *rapid.T) Change {
	ch := Change{Path: Path(drawPath(t)), Kind: someKinds.Draw(t, "kind"), New: file}
	if rapid.Bool().Draw(t, "is a link") {
		ch.New = link
	}
	ch.Ignored = rapid.Bool().Draw(t, "ignored") && ch.Kind != HostChange
	ch.Source = rapid.SampledFrom([]string{"", "", "commit 1"}).Draw(t, "source")
	return ch
}

func drawChanges(t *rapid.T) []Change {
	return rapid.SliceOfN(rapid.Custom(drawChange), 0, 12).Draw(t, "changes")
}

type spot struct {
	path   Path
	kind   Kind
	source string
}

func spotOf(c Change) spot { return spot{c.Path, c.Kind, c.Source} }

func TestComponentBoundaries(t *testing.T) {
	rules := writes(t, "s1", "docs/api")
	for path, allowed := range map[string]bool{
		"s1": true, "s1/x": true, "s1/s10/x": true,
		"s10": false, "s10/x": false, "s": false, "S1/x": false, "s1x": false, "s1.txt": false, "x/s1": false,
		"docs": false, "docs/x": false, "docs/api": true, "docs/api/x": true, "docs/apis/x": false,
	} {
		if got := len(Violations([]Change{added(path)}, rules)) == 0; got != allowed {
			t.Errorf("%s: allowed is %v", path, got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		root := rapid.StringMatching(`[a-z]{1,4}(/[a-z]{1,4}){0,2}`).Draw(rt, "root")
		tail := rapid.StringMatching(`[a-z0-9._-]{1,3}`).Draw(rt, "tail")
		r := writes(t, root)
		if len(Violations([]Change{added(root + tail)}, r)) == 0 {
			rt.Fatalf("%q allows %q", root, root+tail)
		}
		if v := Violations([]Change{added(root + "/x" + tail)}, r); len(v) > 0 {
			rt.Fatalf("%q does not allow %q: %s", root, root+"/x"+tail, v[0].Rule)
		}
	})
}

// What comes out is what went in, in the same order, each change once.
func TestViolationsKeepOrderAndDropDoubles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		changes := drawChanges(rt)
		rules := rulesOf(t, policy.Filesystem{WriteRoots: drawPatterns(rt, "write_roots"), Scratch: drawPatterns(rt, "scratch")})
		found := Violations(changes, rules)
		seen := map[spot]bool{}
		at := 0
		for _, f := range found {
			if seen[spotOf(f.Change)] {
				rt.Fatalf("%q is there twice", f.Path)
			}
			seen[spotOf(f.Change)] = true
			next := slices.IndexFunc(changes[at:], func(c Change) bool { return spotOf(c) == spotOf(f.Change) })
			if next < 0 {
				rt.Fatalf("%q is out of order, or was never changed", f.Path)
			}
			at += next
			if f.Class != Violation || f.Rule == "" {
				rt.Fatalf("%q is %q by %q", f.Path, f.Class, f.Rule)
			}
		}
		if again := Violations(append(changes, changes...), rules); len(again) != len(found) {
			rt.Fatalf("twice the same changes are %d violations, once %d", len(again), len(found))
		}
	})
}

func TestEmptyWriteRootsAllowNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		changes := drawChanges(rt)
		want := map[spot]bool{}
		for _, c := range changes {
			want[spotOf(c)] = true
		}
		if got := Violations(changes, rulesOf(t, policy.Filesystem{})); len(got) != len(want) {
			rt.Fatalf("%d of %d changes violate", len(got), len(want))
		}
		if got := Violations(changes, policy.Rules{}); len(got) != len(want) {
			rt.Fatalf("without rules %d of %d changes violate", len(got), len(want))
		}
	})
}

func TestAnotherDenyRemovesNoViolation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		changes := drawChanges(rt)
		fs := policy.Filesystem{
			WriteRoots: drawPatterns(rt, "write_roots"), Scratch: drawPatterns(rt, "scratch"), DenyWrite: drawPatterns(rt, "deny_write"),
		}
		before := Violations(changes, rulesOf(t, fs))
		fs.DenyWrite = append(fs.DenyWrite, drawPatterns(rt, "another deny")...)
		after := map[spot]bool{}
		for _, f := range Violations(changes, rulesOf(t, fs)) {
			after[spotOf(f.Change)] = true
		}
		for _, f := range before {
			if !after[spotOf(f.Change)] {
				rt.Fatalf("%q %s violated by %q and does not any more", f.Path, f.Kind, f.Rule)
			}
		}
	})
}

// Nothing lands but what may, and a kind that nobody has heard of never does.
func TestOnlyTheLandableLands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := rulesOf(t, policy.Filesystem{WriteRoots: []string{"."}, Scratch: drawPatterns(rt, "scratch")})
		for _, f := range Classify(drawChanges(rt), rules) {
			if f.Class == Landing && f.Kind != Commit && (!f.Kind.Landable() || f.Ignored) {
				rt.Fatalf("%s %q (ignored: %v) lands by %q", f.Kind, f.Path, f.Ignored, f.Rule)
			}
			if (f.Kind == HostChange || f.Kind == Replaced) && f.Class != Violation {
				rt.Fatalf("%s is %s", f.Kind, f.Class)
			}
			if f.Kind == Unreadable && f.Class != Violation && f.Class != Scratch {
				rt.Fatalf("what cannot be read is %s", f.Class)
			}
		}
	})
}

// Every kind that never lands has a reason that can be shown.
func TestEveryRefusalHasAReason(t *testing.T) {
	for _, k := range []Kind{LinkOut, Nested, GitlinkHit, Special, SetID, HardLink, BadName, Collision, TooLarge, Unreadable, Replaced, "a kind of tomorrow"} {
		f := Classify([]Change{{Path: "src/x", Kind: k, New: file}}, writes(t, "."))[0]
		if f.Class != Violation || f.Rule == "" {
			t.Errorf("%s is %s by %q", k, f.Class, f.Rule)
		}
	}
}

func TestReportIsCleanOnlyWithoutViolations(t *testing.T) {
	for class, clean := range map[Class]bool{Landing: true, Ignored: true, Scratch: true, Note: true, Violation: false, "": false, "tomorrow": false} {
		r := &Report{Findings: []Finding{{Change: added("x"), Class: class}}}
		r.Seal()
		if (r.Verdict == VerdictClean) != clean {
			t.Errorf("a finding of class %q makes %s", class, r.Verdict)
		}
	}
}

// The digest changes with everything that could land otherwise.
func TestDigestTellsTreesApart(t *testing.T) {
	one := []Finding{{Change: added("x"), Class: Landing}}
	seen := map[string]bool{digestOf(one): true}
	for _, other := range []Change{added("y"), {Path: "x", Kind: Added, New: link}, {Path: "x", Kind: Deleted}, {Path: "x", Kind: Added,
		New: git.Entry{Mode: git.Executable, OID: file.OID}}} {
		d := digestOf([]Finding{{Change: other, Class: Landing}})
		if seen[d] {
			t.Errorf("%+v has the digest of another tree", other)
		}
		seen[d] = true
	}
}

func digestOf(findings []Finding) string {
	r := &Report{Findings: findings}
	r.Seal()
	return r.Digest
}

// Ignored build output outside write_roots is a violation everywhere but in a layer, and
// there only as a plain new file that nothing but missing write_roots speaks against.
func TestLeftOver(t *testing.T) {
	file := git.Entry{Mode: git.Regular, OID: "1"}
	out := Change{Path: "build/a.o", Kind: Added, New: git.Entry{Mode: git.Regular}, Ignored: true}
	change := func(act func(*Change)) Change { c := out; act(&c); return c }
	for name, c := range map[string]struct {
		Change
		layer bool
		want  Class
	}{
		"in a layer":             {out, true, Ignored},
		"executable":             {change(func(c *Change) { c.New.Mode = git.Executable }), true, Ignored},
		"in a plain tree":        {out, false, Violation},
		"not ignored":            {change(func(c *Change) { c.Ignored = false }), true, Violation},
		"tracked":                {change(func(c *Change) { c.Kind, c.Old = Modified, file }), true, Violation},
		"the operator's":         {change(func(c *Change) { c.Old = file }), true, Violation},
		"deleted":                {change(func(c *Change) { c.Kind, c.Old, c.New = Deleted, file, git.Entry{} }), true, Violation},
		"a link":                 {change(func(c *Change) { c.New.Mode = git.Symlink }), true, Violation},
		"part of a repository":   {change(func(c *Change) { c.Kind = Nested }), true, Violation},
		"unreadable":             {change(func(c *Change) { c.Kind = Unreadable }), true, Violation},
		"special":                {change(func(c *Change) { c.Kind, c.New = Special, git.Entry{} }), true, Violation},
		"setuid":                 {change(func(c *Change) { c.Kind = SetID }), true, Violation},
		"a second name":          {change(func(c *Change) { c.Kind = HardLink }), true, Violation},
		"a bad name":             {change(func(c *Change) { c.Kind = BadName }), true, Violation},
		"in a commit":            {change(func(c *Change) { c.Kind, c.Source = Commit, "commit 1" }), true, Violation},
		"git's":                  {change(func(c *Change) { c.Path = "build/.git/config" }), true, Violation},
		"a name that is obeyed":  {change(func(c *Change) { c.Path = "build/.vscode/tasks.json" }), true, Violation},
		"a name of a secret":     {change(func(c *Change) { c.Path = "build/key.pem" }), true, Violation},
		"not a path of the tree": {change(func(c *Change) { c.Path = "../a.o" }), true, Violation},
	} {
		tree := Tree{Layer: c.layer, Rules: rulesOf(t, policy.Filesystem{WriteRoots: []string{"src"}, DenyRead: []string{"**/*.pem"}})}
		if got := tree.Classify([]Change{c.Change})[0]; got.Class != c.want {
			t.Errorf("%s: %s by %q, want %s", name, got.Class, got.Rule, c.want)
		}
	}
	if (policy.Rules{}).LeftOver("build/a.o") {
		t.Error("rules of no policy leave something over")
	}
}
