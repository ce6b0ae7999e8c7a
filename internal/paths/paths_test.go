package paths

import "testing"

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		p, dir        string
		within, below bool
	}{
		{"/a", "/a", true, false},
		{"/a/b", "/a", true, true},
		{"/ab", "/a", false, false},
		{"/a", "/a/b", false, false},
		{"/a/b/", "/a/b", true, false},
		{"/a/b", "/a/", true, true},
		{"/a", "/a/", true, false},
		{"/", "/", true, false},
		{"/a", "/", true, true},
		{"a", "/", false, false},
		{"", "/", false, false},
		{"/a", "", false, false},
		{"", "", false, false},
		{"a/b", "a", true, true},
		{"a", ".", true, true},
		{".", ".", true, false},
		{"/a", ".", false, false},
		{"..", ".", false, false},
		{"../a", ".", false, false},
		{"..a", ".", true, true},
		{"/a/../b", "/a", false, false},
		{"/a/./b", "/a", true, true},
		{"/a//b", "/a", true, true},
		{"/A/b", "/a", false, false},
	} {
		if got := Within(c.p, c.dir); got != c.within {
			t.Errorf("Within(%q, %q) is %v", c.p, c.dir, got)
		}
		if got := Below(c.p, c.dir); got != c.below {
			t.Errorf("Below(%q, %q) is %v", c.p, c.dir, got)
		}
		if got := WithinFold(c.p, c.dir); c.within && !got {
			t.Errorf("WithinFold(%q, %q) is %v", c.p, c.dir, got)
		}
	}
	for _, c := range []struct {
		p, dir string
		want   bool
	}{{"/A/b", "/a", true}, {"/a/b", "/A", true}, {"/Ab", "/a", false}, {"/É/x", "/é", true}, {"/a", "", false}, {"", "/a", false}} {
		if got := WithinFold(c.p, c.dir); got != c.want {
			t.Errorf("WithinFold(%q, %q) is %v", c.p, c.dir, got)
		}
	}
	if got := Holding("/a/b/c", []string{"/x", "/a/b/c", "/a/b", "/a"}); got != "/a/b" {
		t.Errorf("Holding is %q", got)
	}
}

func TestMatchName(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"", "", true}, {"*", "", true}, {"*.rc", "x.rc", true}, {"*.rc", "x.rd", false},
		{`a\*`, "a*", true}, {`a\*`, `a\*`, false}, {"[", "[", false}, {"?", "x", true},
	} {
		if got := MatchName(c.pattern, c.name); got != c.want {
			t.Errorf("MatchName(%q, %q) is %v", c.pattern, c.name, got)
		}
	}
}
