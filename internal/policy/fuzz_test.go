package policy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// FuzzParse: an error comes with the zero Policy and a place; a policy comes
// back the same from its canonical form, and compiles unless a root is absolute.
func FuzzParse(f *testing.F) {
	for _, m := range mistakes {
		if len(m.text) < 1000 {
			f.Add([]byte(m.text))
		}
	}
	for _, text := range goodTexts {
		f.Add([]byte(text))
	}
	f.Add(Default().YAML())
	f.Add([]byte("\r\rversion"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("f", data)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Line < 1 || e.Column < 1 || e.Problem == "" {
				t.Fatalf("an error without a place: %#v", err)
			}
			if lines := yamlBreaks(string(data)) + 1; e.Line > lines {
				t.Fatalf("line %d of %d: %v", e.Line, lines, err)
			}
			if !reflect.DeepEqual(p, Policy{}) {
				t.Fatalf("a policy with the error %v: %+v", err, p)
			}
			return
		}
		roundTrip(t, p)
		r, err := Compile(p, tree)
		if err != nil && !strings.HasPrefix(err.Error(), "write_roots: ") {
			t.Fatalf("parsed and does not compile: %v", err)
		}
		if v := r.Judge(".git/config"); v.Class != Violation {
			t.Fatalf("git's own files are %s", v.Class)
		}
	})
}

// yamlBreaks counts every character that ends a line to YAML 1.1.
func yamlBreaks(s string) int {
	n := 0
	for _, r := range s {
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
			n++
		}
	}
	return n
}

// FuzzJudge: no path and no pattern makes Judge panic, leave the tree, or land
// what a bare deny covers.
func FuzzJudge(f *testing.F) {
	for _, path := range []string{"a/b", "../x", "a/../b", ".git/x", "\xff/\xfe", "a\x00", ".Claude/x", "é/e\u0301", "", "/", "a//b"} {
		for _, pattern := range []string{".", "**", "a/[!b]", "{a,b}", "?", "a/**/b", ".claude"} {
			f.Add(path, pattern, true)
			f.Add(path, pattern, false)
		}
	}
	f.Fuzz(func(t *testing.T, path, pattern string, folds bool) {
		at := Location{Worktree: "/w/t", Home: "/h", Fold: folds}
		fs := Filesystem{WriteRoots: []string{pattern}}
		r, err := Compile(Policy{Filesystem: fs}, at)
		if err != nil {
			return
		}
		if _, err := doublestar.Match(pattern, path); err != nil {
			t.Fatalf("the pattern %q was accepted, and the library refuses it", pattern)
		}
		v := r.Judge(path)
		if l := r.JudgeLink(path); v.Class == Violation && l.Class != Violation {
			t.Fatalf("%q is a violation, and as a link %s", path, l.Class)
		}
		for name := range strings.SplitSeq(path, "/") {
			if (name == ".." || name == "" || strings.EqualFold(name, ".git")) && v.Class != Violation {
				t.Fatalf("%q is %s by %s", path, v.Class, v.Rule)
			}
		}
		fs.DenyWrite = []string{pattern}
		if r, err = Compile(Policy{Filesystem: fs}, at); err != nil {
			t.Fatalf("a root and no deny: %v", err)
		}
		if v := r.Judge(path); v.Class != Violation {
			t.Fatalf("%q is denied and outside of nothing, and still %s", path, v.Class)
		}
	})
}
