package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"
)

func listing(t *testing.T, r Repo, treeish OID) *Listing {
	t.Helper()
	l := must[*Listing](t)(r.Listing(t.Context(), treeish))
	t.Cleanup(l.Close)
	return l
}

// mixed is a repository of either format with everything that a tree can hold,
// old modes and odd names included.
func mixed(t *testing.T, format Format) (Repo, OID) {
	t.Helper()
	ctx := context.Background()
	r := must[Repo](t)(Init(ctx, find(t), filepath.Join(t.TempDir(), "x"), InitOptions{Bare: true, Format: format}))
	blob := must[OID](t)(r.PutBlob(ctx, strings.NewReader("target")))
	deep := must[OID](t)(r.PutTree(ctx, []File{{"x\ny", Entry{Regular, blob}}, {"\xff", Entry{Executable, blob}}}))
	mid := must[OID](t)(r.PutTree(ctx, []File{{"deep", Entry{Directory, deep}}, {"link", Entry{Symlink, blob}}}))
	old := must[OID](t)(r.PutTree(ctx, []File{{"w", Entry{0o100664, blob}}, {"x", Entry{0o100775, blob}}}))
	none := must[OID](t)(r.PutTree(ctx, nil))
	top := must[OID](t)(r.PutTree(ctx, []File{
		{"a", Entry{Directory, mid}}, {"a.b", Entry{Regular, blob}}, {"a-b", Entry{Directory, deep}}, {"sub", Entry{Gitlink, format.Blob([]byte("elsewhere"))}},
		{"old", Entry{Directory, old}}, {"same", Entry{Directory, mid}}, {"empty", Entry{Directory, none}},
	}))
	return r, must[OID](t)(r.CommitTree(ctx, top, nil, "m", Person{"n", "e@x"}))
}

// A listing is what ls-tree says.
func TestListingAgreesWithLsTree(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{SHA1, SHA256} {
		r, commit := mixed(t, format)
		want := must[[]File](t)(r.Tree(t.Context(), commit))
		for name, l := range map[string]*Listing{"git": listing(t, r, commit), "memory": ListingOf(want)} {
			if got := l.All(); !reflect.DeepEqual(got, want) || l.Err() != nil {
				t.Errorf("%s %s: %v, want %v, %v", format, name, got, want, l.Err())
			}
			for _, f := range want {
				if got := l.Entry(f.Path); got != f.Entry {
					t.Errorf("%s %s: %q is %v, want %v", format, name, f.Path, got, f.Entry)
				}
			}
			for _, p := range []string{"b", "a/none", "a.b/x", "sub/x", "a/deep/x\ny/z", "/a", "a//deep"} {
				if got := l.Entry(p); got != (Entry{}) {
					t.Errorf("%s %s: %q is %v", format, name, p, got)
				}
			}
			if l.File("a") != (Entry{}) || l.Entry("a").Mode != Directory || len(l.Dir("a")) != 2 || l.Dir("a.b") != nil || l.Dir("sub") != nil {
				t.Errorf("%s %s: directories and files are mixed up", format, name)
			}
			if got := l.Below("a/deep", "old", "none"); len(got) != 4 || got[0].Path != "a/deep/x\ny" || got[3].Path != "old/x" {
				t.Errorf("%s %s: below: %v", format, name, got)
			}
		}
	}
}

func TestListingReadsAhead(t *testing.T) {
	t.Parallel()
	r, commit := mixed(t, SHA1)
	l := listing(t, r, commit)
	l.Load([]string{"", "a", "a/deep", "a/none", "a.b", "none/deep"})
	l.Close()
	if len(l.Dir("a/deep")) != 2 || l.Err() != nil {
		t.Errorf("it was not read: %v", l.Err())
	}
	if l.Dir("old") != nil || l.Err() == nil {
		t.Error("a closed listing answers")
	}
}

// Requests and answers of more than a pipe holds.
func TestListingOfManyDirectories(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := must[Repo](t)(Init(ctx, find(t), filepath.Join(t.TempDir(), "x"), InitOptions{Bare: true, Format: SHA1}))
	blob := must[OID](t)(r.PutBlob(ctx, strings.NewReader("x")))
	const dirs, files = 1500, 10
	commit := must[OID](t)(r.Snapshot(ctx, "refs/in/x", must[OID](t)(r.CommitTree(ctx, must[OID](t)(r.PutTree(ctx, nil)), nil, "m",
		Person{"n", "e@x"})), "m", func(w *Writer) error {
		for i := range dirs * files {
			w.printf("M 100644 %s d%d/f%d\n", blob, i/files, i)
		}
		return nil
	}))
	if got := listing(t, r, commit).All(); len(got) != dirs*files {
		t.Errorf("%d files", len(got))
	}
}

func TestListingAt(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"a": "1", "d/b": "1"})
	first := head(t, h.Top)
	second := commit(t, h.Top, "second", map[string]string{"d/c": "2"})
	l := listing(t, h.Repo, first)
	if other := l.At(second); len(other.Dir("d")) != 2 || len(l.Dir("d")) != 1 {
		t.Errorf("%v, %v", l.Dir("d"), other.Dir("d"))
	}
}

func TestListingAbove(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{".gitignore": "1", "a/.gitignore": "2", "a/b/c/.gitignore": "3", "other/.gitignore": "4"})
	l := listing(t, h.Repo, head(t, h.Top))
	var got []string
	for _, f := range l.Above(".gitignore", []string{"a/b/x", "a/y", "a/b/c", "new/x"}) {
		got = append(got, f.Path)
	}
	if want := []string{".gitignore", "a/.gitignore"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestListingBlobs(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"short": "s", "long": strings.Repeat("x", MaxLink+1)})
	l := listing(t, h.Repo, head(t, h.Top))
	short, long := l.Entry("short").OID, l.Entry("long").OID
	if got := l.Links([]OID{short, long, SHA1.Zero(), head(t, h.Top)}); len(got) != 1 || got[short] != "s" {
		t.Errorf("links are %q", got)
	}
	if b, err := l.Blob(long, MaxLink+1); err != nil || len(b) != MaxLink+1 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := l.Blob(long, MaxLink); err == nil {
		t.Error("a blob over the limit was read")
	}
	if l.Err() != nil {
		t.Errorf("what is too long is no error of the listing: %v", l.Err())
	}
}

// Whatever fails is held: no answer after it looks like a tree without files.
func TestListingHoldsItsError(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"a": "1", "d/b": "1"})
	blob := must[OID](t)(h.PutBlob(t.Context(), strings.NewReader("x")))
	for name, treeish := range map[string]OID{"nothing": SHA1.Zero(), "a blob": blob, "no name": "x"} {
		l := listing(t, h.Repo, treeish)
		if l.Dir("") != nil || l.Err() == nil {
			t.Errorf("%s is a tree: %v", name, l.Err())
		}
		if l.At(head(t, h.Top)).Dir("") != nil {
			t.Errorf("%s: it goes on", name)
		}
	}
}

func TestListingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	l := must[*Listing](t)(h.Listing(ctx, head(t, h.Top)))
	cancel()
	began := time.Now()
	if l.All(); !errors.Is(l.Err(), context.Canceled) {
		// The answer may have been faster than the end.
		if l.Close(); l.Err() != nil {
			t.Errorf("error %v", l.Err())
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
	l.Close()
}

// Trees that two readers would read differently are refused.
func TestListingRefusesBrokenTrees(t *testing.T) {
	t.Parallel()
	oid := strings.Repeat("\x01", 20)
	for name, raw := range map[string]string{
		"a name twice":    "100644 a\x00" + oid + "100644 a\x00" + oid,
		"file and folder": "100644 a\x00" + oid + "40000 a\x00" + oid,
		"a slash":         "100644 a/b\x00" + oid,
		"no name":         "100644 \x00" + oid,
		"dots":            "40000 ..\x00" + oid,
		"half":            "100644 a\x00" + oid[:10],
		"no mode":         "a\x00" + oid,
		"a bad mode":      "1006x4 a\x00" + oid,
		"garbage":         "garbage",
	} {
		if dir, err := parseTree([]byte(raw), 20); err == nil {
			t.Errorf("%s: read as %v", name, dir)
		}
	}
	if dir, err := parseTree([]byte("100644 a\x00"+oid+"40000 b\x00"+oid), 20); err != nil || len(dir) != 2 {
		t.Errorf("the control: %v, %v", dir, err)
	}
}

// A tree of a few objects with more files than there are atoms is not listed.
func TestListingIsBounded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := must[Repo](t)(Init(ctx, find(t), filepath.Join(t.TempDir(), "x"), InitOptions{Bare: true, Format: SHA1}))
	tree := must[OID](t)(r.PutTree(ctx, []File{{"f", Entry{Regular, must[OID](t)(r.PutBlob(ctx, strings.NewReader("x")))}}}))
	for range 8 {
		var files []File
		for i := range 300 {
			files = append(files, File{fmt.Sprint("d", i), Entry{Directory, tree}})
		}
		sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
		tree = must[OID](t)(r.PutTree(ctx, files))
	}
	l := listing(t, r, tree)
	if files := l.All(); files != nil || l.Err() == nil {
		t.Errorf("%d files, %v", len(files), l.Err())
	}
}
