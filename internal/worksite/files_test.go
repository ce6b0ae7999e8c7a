package worksite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRealPaths(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(rel string) string { return filepath.Join(top, rel) }
	if err := os.MkdirAll(in("a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "a", "a/up": "..", "gone": "nowhere/x", "loop": "loop", "chain": "link/b"} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("a/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var given, want []string
	for _, c := range [][2]string{
		{"a/b", "a/b"}, {"link", "a"}, {"link/b", "a/b"}, {"link/none/x", "a/none/x"}, {"chain/x", "a/b/x"}, {"a/up/link/b", "a/b"},
		{"gone", "gone"}, {"gone/y", "gone/y"}, {"loop/x", "loop/x"}, {"link/file/x", "a/file/x"}, {"", "."}, {"none", "none"}, {"link/../a/b", "a/b"},
	} {
		given, want = append(given, top+"/"+c[0]), append(want, in(c[1]))
		if got := RealPath(top + "/" + c[0]); got != in(c[1]) {
			t.Errorf("%s alone is %s", c[0], got)
		}
	}
	if got := RealPaths(given...); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := RealPaths(); len(got) != 0 || RealPath("/") != "/" {
		t.Errorf("none are %q, the root is %q", got, RealPath("/"))
	}
}
