package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/git"
)

func TestFixedGit(t *testing.T) {
	for v, want := range map[git.Version]bool{
		{2, 38, 5}: false, {2, 39, 3}: false, {2, 39, 4}: true, {2, 39, 5}: true,
		{2, 40, 1}: false, {2, 40, 2}: true, {2, 43, 3}: false, {2, 45, 0}: false,
		{2, 45, 1}: true, {2, 46, 0}: true, {2, 55, 0}: true, {3, 0, 0}: true,
	} {
		if got, _ := fixedGit(v); got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
}

// TestPlainEnviron: only what is on the list goes to a client.
func TestPlainEnviron(t *testing.T) {
	env := plainEnviron(func(name string) (string, bool) { return "value", name != "LC_ALL" })
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains([]string{"TERM", "NO_COLOR", "CI", "DISABLE_AUTOUPDATER", "PATH", "HOME", "USER", "TMPDIR", "LANG"}, name) {
			t.Errorf("%s is passed on", name)
		}
	}
	if !slices.Contains(env, "PATH=value") {
		t.Error("PATH is not passed on")
	}
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "version unknown",
		"\n\n  1.2.3 (Claude)\nmore\n":    "1.2.3 (Claude)",
		"\x1b[31m1.0\x1b[0m\x07\r\n":      "1.0",
		"\xff1.0":                         "?1.0",
		strings.Repeat("\u00e9", 100):     strings.Repeat("\u00e9", 60),
		"\x1b]0;title\x07codex-cli 0.1\n": "]0;titlecodex-cli 0.1",
	} {
		if got := firstLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestWritableState: a place that cannot be written fails, and trying leaves
// nothing behind.
func TestWritableState(t *testing.T) {
	root := filepath.Join(t.TempDir(), "state", "cordon")
	place, err := existing(root)
	if err != nil {
		t.Fatal(err)
	}
	if c := writableState(root, place); c.Status != statusOK {
		t.Errorf("not there yet: %+v", c)
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("looking made the directory")
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if c := writableState(root, root); c.Status != statusOK {
		t.Errorf("there: %+v", c)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if c := writableState(root, root); c.Status != statusWarn {
		t.Errorf("open to others: %+v", c)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := writableState(file, file); c.Status != statusFail {
		t.Errorf("a file: %+v", c)
	}
}
