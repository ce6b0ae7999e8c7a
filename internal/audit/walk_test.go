package audit

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/git"
)

// plant makes files. A name that ends in a slash is a directory, a content that
// begins with "->" a link.
func plant(t testing.TB, top string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		target, isLink := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(target, full)
		default:
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func treeOf(t testing.TB, top string, base map[string]string) Tree {
	t.Helper()
	tree := Tree{
		Top: top, Format: git.SHA1, Rules: writes(t, "."),
		Ignored: func(_ context.Context, paths []string) (map[string]bool, error) {
			ignored := map[string]bool{}
			for _, p := range paths {
				ignored[p] = strings.Contains(p, "ignored")
			}
			return ignored, nil
		},
	}
	var files []git.File
	for name, content := range base {
		files = append(files, git.File{Path: name, Entry: git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte(content))}})
	}
	tree.Base = git.ListingOf(files)
	return tree
}

func collect(t testing.TB, tree Tree) map[string]Change {
	t.Helper()
	list, err := Collect(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]Change{}
	for _, ch := range list {
		changes[string(ch.Path)] = ch
	}
	return changes
}

func wantKinds(t *testing.T, got map[string]Change, want map[string]Kind) {
	t.Helper()
	for p, k := range want {
		if got[p].Kind != k {
			t.Errorf("%s is %q %s, want %q", p, got[p].Kind, got[p].Detail, k)
		}
	}
	for p, ch := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%s is %s %s, want no change", p, ch.Kind, ch.Detail)
		}
	}
}

func TestCollectComparesEverything(t *testing.T) {
	base := map[string]string{"same": "1", "edited": "1", "gone": "1", "dir/in": "1", "was-file": "1"}
	top := t.TempDir()
	plant(t, top, map[string]string{
		"same": "1", "edited": "2", "new": "1", "dir": "->same", "was-file/in": "1", "ignored": "x", "empty/": "",
		".git/payload": "x",
	})
	got := collect(t, treeOf(t, top, base))
	wantKinds(t, got, map[string]Kind{
		"edited": Modified, "gone": Deleted, "new": Added, "dir": Added, "dir/in": Deleted,
		"was-file": Deleted, "was-file/in": Added, "ignored": Added,
	})
	if !got["ignored"].Ignored || got["new"].Ignored {
		t.Error("the wrong path is ignored")
	}
}

func TestCollectFindsSockets(t *testing.T) {
	top := t.TempDir()
	at := filepath.Join(top, "s")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := collect(t, treeOf(t, top, nil))
	wantKinds(t, got, map[string]Kind{"s": Special})
	if got["s"].Detail != "a socket" {
		t.Errorf("it is %q", got["s"].Detail)
	}
}

// A bit that git does not keep is a change all the same, on a file that is
// otherwise the base's.
func TestCollectFindsSetID(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{"a": "1", "b": "1"})
	for name, mode := range map[string]os.FileMode{"a": 0o644 | os.ModeSetuid, "b": 0o644 | os.ModeSticky} {
		if err := os.Chmod(filepath.Join(top, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	wantKinds(t, collect(t, treeOf(t, top, map[string]string{"a": "1", "b": "1"})), map[string]Kind{"a": SetID, "b": SetID})
}

// What cordon brought from the operator's checkout never lands, also where only
// a rule of the operator's ignores it.
func TestSeededFilesNeverLand(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{"env": "changed", "kept": "1", "new": "1"})
	tree := treeOf(t, top, nil)
	for _, name := range []string{"env", "kept", "removed"} {
		tree.Seeded = append(tree.Seeded, git.File{Path: name, Entry: git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte("1"))}})
	}
	got := collect(t, tree)
	wantKinds(t, got, map[string]Kind{"env": Modified, "removed": Deleted, "new": Added})
	for _, f := range Classify([]Change{got["env"], got["removed"]}, tree.Rules) {
		if f.Class != Ignored {
			t.Errorf("%s is %s", f.Path, f.Class)
		}
	}
}

func TestCollectKnowsRepositories(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{
		"a/.git/config": "x", "a/in/x": "x",
		"b/.git": "gitdir: elsewhere", "b/x": "x",
		"c/HEAD": "x", "c/objects/": "", "c/refs/": "", "c/deep/x": "x",
		"d/head": "x", "d/Objects/": "", "d/REFS/": "",
		"e/HEAD": "x", "e/config": "x",
		"f/HEAD": "x", "f/commondir": "x",
		"g/HEAD/x": "x", "g/objects/x": "x", "g/refs/x": "x",
		"h/head": "x", "h/config": "x",
		"i/.GIT/x": "x",
		"j/.git":   "->../a/.git", "j/x": "x",
	})
	got := collect(t, treeOf(t, top, nil))
	for p, ch := range got {
		plainDirectory := strings.HasPrefix(p, "g/") || strings.HasPrefix(p, "h/")
		if (ch.Kind == Nested) == plainDirectory {
			t.Errorf("%s is %s", p, ch.Kind)
		}
	}
	if len(got) != 19 {
		t.Errorf("%d paths: %v", len(got), keys(got, nil))
	}
}

func TestRepositoryAtTheTop(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{"HEAD": "x", "objects/x": "x", "refs/x": "x", "src/x": "x", "same": "1"})
	wantKinds(t, collect(t, treeOf(t, top, map[string]string{"same": "1"})), map[string]Kind{
		"HEAD": Nested, "objects/x": Nested, "refs/x": Nested, "src/x": Nested,
	})
}

func TestSubmodulesAreNotTheWorkers(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{"sub/x": "x", "file": "x"})
	tree := treeOf(t, top, nil)
	tree.Base = git.ListingOf([]git.File{
		{Path: "sub", Entry: git.Entry{Mode: git.Gitlink, OID: git.SHA1.Blob(nil)}},
		{Path: "file", Entry: git.Entry{Mode: git.Gitlink, OID: git.SHA1.Blob(nil)}},
		{Path: "empty", Entry: git.Entry{Mode: git.Gitlink, OID: git.SHA1.Blob(nil)}},
	})
	wantKinds(t, collect(t, tree), map[string]Kind{"sub/x": GitlinkHit, "file": GitlinkHit})
}

// Too deep to be read is a violation at the place where reading stopped, and
// what the base has below it is not called deleted.
func TestTooDeep(t *testing.T) {
	top := t.TempDir()
	deep := strings.Repeat("d/", maxDepth+1)
	plant(t, top, map[string]string{deep + "x": "1"})
	got := collect(t, treeOf(t, top, map[string]string{deep + "x": "1", "gone": "1"}))
	wantKinds(t, got, map[string]Kind{strings.TrimSuffix(deep, "/"): Unreadable, "gone": Deleted})
}

// Content is opened by component and follows no link, whatever was put in the
// way after the audit.
func TestContentFollowsNoLink(t *testing.T) {
	top, outside := t.TempDir(), t.TempDir()
	plant(t, outside, map[string]string{"secret": "secret"})
	plant(t, top, map[string]string{
		"real/x": "x", "dir": "->" + outside, "file": "->" + filepath.Join(outside, "secret"), "inside": "->real",
	})
	read := func(p string) (string, error) {
		r, _, err := Content(top, Finding{Change: added(p)})
		if err != nil {
			return "", err
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		return string(b), err
	}
	if got, err := read("real/x"); got != "x" || err != nil {
		t.Fatalf("real/x is %q, %v", got, err)
	}
	for _, p := range []string{"dir/secret", "file", "inside/x", "real", "real/missing", "../" + filepath.Base(top) + "/real/x"} {
		if got, err := read(p); err == nil {
			t.Errorf("%s is %q", p, got)
		}
	}
	r, size, err := Content(top, Finding{Change: Change{Path: "l", New: link, Target: "/etc"}})
	if err != nil || size != 4 {
		t.Fatalf("a link's content: %d, %v", size, err)
	}
	if b, _ := io.ReadAll(r); string(b) != "/etc" {
		t.Errorf("a link's content is %q", b)
	}
}

func TestCollectFailsAsAWhole(t *testing.T) {
	top := t.TempDir()
	plant(t, top, map[string]string{"real/x": "x", "linked": "->real", "file": "x", "new": "x"})
	for _, at := range []string{"missing", "linked", "file"} {
		if _, err := Collect(t.Context(), treeOf(t, filepath.Join(top, at), nil)); err == nil {
			t.Errorf("a top that is %s is no error", at)
		}
	}
	tree := treeOf(t, top, nil)
	tree.Ignored = func(context.Context, []string) (map[string]bool, error) { return nil, errors.New("git is gone") }
	if _, err := Collect(t.Context(), tree); err == nil {
		t.Error("unknown ignore rules are no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Collect(ctx, treeOf(t, top, nil)); err == nil {
		t.Error("an interrupted collection is no error")
	}
}
