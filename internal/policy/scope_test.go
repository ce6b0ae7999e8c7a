package policy

import (
	"reflect"
	"testing"
)

func TestScope(t *testing.T) {
	p := Default().Accepts("make", []string{"src", "docs/*.md", "a/**/b.txt"}).Accepts("all", nil)
	in, err := p.Scope("make")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"src/a.c": true, "src": true, "srcs/a": false, "docs/x.md": true, "docs/x.txt": false, "a/b.txt": true, "a/c/d/b.txt": true, "b.txt": false,
		"": false, "/src/a": false, "../src/a": false, "src/../b": false,
	} {
		if got := in(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if in, err := p.Scope("all"); in != nil || err != nil {
		t.Errorf("a command without paths has a scope: %v", err)
	}
}

// Where two policies or a policy and a plan differ about a command, it looks at everything.
func TestAccepts(t *testing.T) {
	base := Default().Accepts("make", []string{"src"})
	for name, p := range map[string]Policy{
		"whole after part":   base.Accepts("make", nil),
		"another part":       base.Accepts("make", []string{"docs"}),
		"part after a whole": Default().Accepts("make", nil).Accepts("make", []string{"src"}),
		"joined":             base.Joined(Default().Accepts("make", nil)),
	} {
		if len(p.Acceptance) != 1 || len(p.AcceptancePaths) != 0 {
			t.Errorf("%s: %v, %v", name, p.Acceptance, p.AcceptancePaths)
		}
	}
	same := base.Joined(base)
	if !reflect.DeepEqual(same.Acceptance, []string{"make"}) || !reflect.DeepEqual(same.AcceptancePaths, base.AcceptancePaths) {
		t.Errorf("%v, %v", same.Acceptance, same.AcceptancePaths)
	}
	if !reflect.DeepEqual(base.AcceptancePaths, map[string][]string{"make": {"src"}}) {
		t.Errorf("the first policy was changed: %v", base.AcceptancePaths)
	}
}
