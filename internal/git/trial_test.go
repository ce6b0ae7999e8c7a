package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A trial finds out what git can check out, with an index of the first commit, without one, and with a wrong one.
func TestTrial(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := must[Repo](t)(Init(ctx, find(t), filepath.Join(t.TempDir(), "x"), InitOptions{Bare: true, Format: SHA1}))
	blob := must[OID](t)(r.PutBlob(ctx, strings.NewReader("text")))
	commit := func(names ...string) OID {
		var files []File
		for _, name := range names {
			files = append(files, File{name, Entry{Regular, blob}})
		}
		return must[OID](t)(r.CommitTree(ctx, must[OID](t)(r.PutTree(ctx, files)), nil, "m", Person{"n", "e@x"}))
	}
	from, other, to, bad := commit("a", "b"), commit("c"), commit("a", "d"), commit("a", "b", strings.Repeat("x", 300))
	dir := t.TempDir()
	for name, tree := range map[string]OID{"right": from, "wrong": other} {
		if err := r.WriteIndex(ctx, tree, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "damaged"), []byte("DIRC"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"", "right", "wrong", "damaged", "absent"} {
		at := ""
		if index != "" {
			at = filepath.Join(dir, index)
		}
		top := t.TempDir()
		if err := r.Trial(ctx, from, to, at, top); err != nil {
			t.Errorf("with the index %q: %v", index, err)
		}
		if _, err := os.Stat(filepath.Join(top, "tree", "d")); err != nil {
			t.Errorf("with the index %q, nothing was checked out: %v", index, err)
		}
		if err := r.Trial(ctx, from, bad, at, t.TempDir()); err == nil {
			t.Errorf("with the index %q, a name that no file can have is checked out", index)
		}
	}
}
