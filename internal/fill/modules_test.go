package fill

import (
	"os"
	"path/filepath"
	"testing"
)

// TestModuleDir: a name leads to a directory of modules, by way of directories only.
func TestModuleDir(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"modules/a/objects", "modules/x/y/objects", "modules/bare", "outside/objects", "modules/real/objects"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"modules/link": "a", "modules/out": "../outside", "modules/bare/objects": "../a/objects", "modules/x/z": "y"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "x/y"} {
		if got, err := moduleDir(dir, name); err != nil || got != filepath.Join(dir, "modules", name) {
			t.Errorf("%q: %q %v", name, got, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../outside", "a/../a", "a/..", "/a", "a//b", "a/", "-a", "x/-y", `a\b`, "a\x00", "a\n", "link", "out", "bare", "x/z", "absent", dir,
	} {
		if got, err := moduleDir(dir, name); err == nil {
			t.Errorf("%q leads to %q", name, got)
		}
	}
	if err := os.Rename(filepath.Join(dir, "modules"), filepath.Join(dir, "m")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("m", filepath.Join(dir, "modules")); err != nil {
		t.Fatal(err)
	}
	if got, err := moduleDir(dir, "a"); err == nil {
		t.Errorf("a link in the place of all modules leads to %q", got)
	}
}
