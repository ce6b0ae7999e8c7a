package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// awkward are names that a parser of lines, of UTF-8 or of quotes gets wrong.
var awkward = []string{"new\nline", "tab\there", "\xff\xfe not utf-8", `quo"te`, "-dash", ":(top)magic", " space ", "*", "sub/dir\n/file"}

// Such names are put in the index, not on the disk: some file systems refuse
// them.
func awkwardHost(t *testing.T) (Host, OID) {
	t.Helper()
	h, _ := host(t, map[string]string{"a": "1"})
	blob := plain(t, h.Top, "rev-parse", "HEAD:a")
	var info strings.Builder
	for _, name := range awkward {
		fmt.Fprintf(&info, "100644 %s\t%s\x00", blob, name)
	}
	if out, err := tryPlain(t, h.Top, info.String(), "update-index", "-z", "--index-info"); err != nil {
		t.Fatal(out)
	}
	plain(t, h.Top, "commit", "-q", "-m", "awkward")
	return h, head(t, h.Top)
}

func TestAwkwardNames(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, tip := awkwardHost(t)
	base := must[OID](t)(h.Commit(ctx, "HEAD~1"))
	want := map[string]bool{}
	for _, name := range awkward {
		want[name] = true
	}
	check := func(what string, names []string) {
		t.Helper()
		got := map[string]bool{}
		for _, n := range names {
			got[n] = true
		}
		delete(got, "a")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	var names []string
	for _, f := range must[[]File](t)(h.Tree(ctx, tip)) {
		names = append(names, f.Path)
	}
	check("Tree", names)
	names = nil
	for _, d := range must[[]Delta](t)(h.Diff(ctx, base, tip)) {
		names = append(names, d.Path)
		if d.Old != (Entry{}) || d.New.Mode != Regular {
			t.Errorf("Diff: %+v", d)
		}
	}
	check("Diff", names)
	names = nil
	for _, c := range must[[]CommitDelta](t)(h.CommitDeltas(ctx, []OID{tip})) {
		for _, d := range c.Deltas {
			names = append(names, d.Path)
		}
	}
	check("CommitDeltas", names)
	for _, name := range awkward {
		got, ok, err := h.FileAt(ctx, tip, name)
		if err != nil || !ok || string(got) != "1" {
			t.Errorf("FileAt(%q) = %q, %v, %v", name, got, ok, err)
		}
	}
}

// A name that looks like pathspec magic is a name to the ignore rules too.
func TestCheckIgnoreTakesNamesLiterally(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{".gitignore": "build/\n*.o\n"})
	asked := []string{"build/x", "a.o", ":(top)build/x", ":/build/x", ":!x", ":(exclude)a", "src/a.c", "build/new\nline", "\xff.o", "-x", "#y", "!z"}
	got := must[map[string]bool](t)(h.CheckIgnore(context.Background(), h.Top, asked))
	want := map[string]bool{"build/x": true, "a.o": true, ":/build/x": true, "build/new\nline": true, "\xff.o": true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What goes into a snapshot comes out of it, name by name and byte by byte.
func TestSnapshotRoundTrip(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, tip := awkwardHost(t)
	content := "binary \x00\xff\n\ndata 5\nD a\ndone\n" // looks like the stream's own commands
	commit, err := h.Snapshot(ctx, "refs/in/x", tip, "message\n", func(w *Writer) error {
		w.Delete("a")
		for _, name := range awkward {
			if err := w.Put(name, Executable, int64(len(content)), strings.NewReader(content)); err != nil {
				return err
			}
		}
		return w.Put("link", Symlink, 3, strings.NewReader("a\nb"))
	})
	if err != nil {
		t.Fatal(err)
	}
	files := must[[]File](t)(h.Tree(ctx, commit))
	if len(files) != len(awkward)+1 {
		t.Errorf("%d files, want %d", len(files), len(awkward)+1)
	}
	for _, f := range files {
		want := Entry{Executable, SHA1.Blob([]byte(content))}
		if f.Path == "link" {
			want = Entry{Symlink, SHA1.Blob([]byte("a\nb"))}
		}
		if f.Entry != want {
			t.Errorf("%q is %+v, want %+v", f.Path, f.Entry, want)
		}
	}
	if got := must[[]OID](t)(h.Commits(ctx, []OID{commit}, tip)); len(got) != 1 {
		t.Errorf("the snapshot is %d commits on its base, want 1", len(got))
	}
}

// A file that shrinks while it is read, or a caller that gives up, leaves no
// snapshot.
func TestSnapshotFailsWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	base := head(t, h.Top)
	gaveUp := errors.New("gave up")
	for name, fill := range map[string]func(*Writer) error{
		"short":   func(w *Writer) error { return w.Put("b", Regular, 100, strings.NewReader("short")) },
		"refused": func(w *Writer) error { w.Delete("a"); return gaveUp },
		"no mode": func(w *Writer) error { return w.Put("b", Mode(0o100777), 1, strings.NewReader("x")) },
	} {
		if got, err := h.Snapshot(ctx, "refs/in/"+strings.ReplaceAll(name, " ", ""), base, "m", fill); err == nil {
			t.Errorf("%s: made %s", name, got)
		} else if name == "refused" && !errors.Is(err, gaveUp) {
			t.Errorf("%s: %v", name, err)
		} else if name == "short" && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if refs := must[[]Ref](t)(h.Refs(ctx, "refs/in")); len(refs) > 0 {
		t.Errorf("refs were left: %v", refs)
	}
}

func TestMergeTrees(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1\n", "con\nflict": "1\n"})
	base := head(t, h.Top)
	ours := commit(t, h.Top, "ours", map[string]string{"a": "2\n", "con\nflict": "2\n"})
	plain(t, h.Top, "checkout", "-q", "-b", "clean", string(base))
	clean := commit(t, h.Top, "clean", map[string]string{"b": "b\n"})
	plain(t, h.Top, "checkout", "-q", "-b", "theirs", string(base))
	theirs := commit(t, h.Top, "theirs", map[string]string{"con\nflict": "3\n"})
	plain(t, h.Top, "checkout", "-q", "--orphan", "stranger")
	stranger := commit(t, h.Top, "stranger", map[string]string{"s": "s\n"})

	m := must[Merge](t)(h.MergeTrees(ctx, ours, clean))
	if len(m.Conflicts) > 0 || len(must[[]File](t)(h.Tree(ctx, m.Tree))) != 3 {
		t.Errorf("clean: %+v", m)
	}
	m = must[Merge](t)(h.MergeTrees(ctx, ours, theirs))
	if !reflect.DeepEqual(m.Conflicts, []string{"con\nflict"}) {
		t.Errorf("conflict: %q", m.Conflicts)
	}
	if m, err := h.MergeTrees(ctx, ours, stranger); err == nil {
		t.Errorf("unrelated histories were merged: %+v", m)
	}
	if m, err := h.MergeTrees(ctx, ours, SHA1.Blob([]byte("x"))); err == nil {
		t.Errorf("a commit that is not there was merged: %+v", m)
	}
}

// Send carries exactly what is asked for, and a broken object does not arrive.
func TestSend(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1"})
	base := head(t, h.Top)
	tip := commit(t, h.Top, "two", map[string]string{"b": "2"})
	to, err := Init(ctx, h.bin, t.TempDir(), InitOptions{Bare: true, Format: SHA1})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Send(ctx, to, []OID{tip}, []OID{base}); err == nil {
		t.Error("a pack without the base was accepted where the base is missing")
	}
	if err := h.Send(ctx, to, []OID{tip}, nil); err != nil {
		t.Fatal(err)
	}
	if got := must[[]File](t)(to.Tree(ctx, tip)); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if err := h.Send(ctx, to, []OID{tip}, nil); err != nil {
		t.Errorf("sending what is there already: %v", err)
	}
	for _, bad := range []string{".git", "..", "git~1", ".GIT"} {
		tree := rawTree(t, h, "100644", bad)
		if err := h.Send(ctx, to, []OID{tree}, nil); err == nil {
			t.Errorf("a tree with %q was accepted", bad)
		}
	}
	odd := rawTree(t, h, "100664", "odd") // as in repositories of git's first years
	if err := h.SendForeign(ctx, to, []OID{odd}, nil); err == nil {
		t.Error("an odd mode was accepted from somebody else")
	}
	if err := h.Send(ctx, to, []OID{odd}, nil); err != nil {
		t.Errorf("an odd mode of the host's own: %v", err)
	}
	var pack bytes.Buffer
	pack.WriteString("PACK garbage")
	if err := to.AddPack(ctx, &pack); err == nil {
		t.Error("garbage was accepted")
	}
}

// rawTree writes a tree that git itself refuses to make.
func rawTree(t *testing.T, h Host, mode, name string) OID {
	t.Helper()
	blob := plain(t, h.Top, "rev-parse", "HEAD:a")
	raw := make([]byte, 20)
	if _, err := fmt.Sscanf(blob, "%40x", &raw); err != nil {
		t.Fatal(err)
	}
	out, err := tryPlain(t, h.Top, mode+" "+name+"\x00"+string(raw), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	if err != nil {
		t.Fatal(out)
	}
	return OID(out)
}

func TestTypedErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _ := host(t, map[string]string{"a": "1", "link": "x"})
	_, err := h.Tree(ctx, SHA1.Blob([]byte("x")))
	var e *Error
	if !errors.As(err, &e) || e.Code != 128 || e.Stderr == "" || e.Args[0] != "ls-tree" {
		t.Errorf("got %#v", err)
	}
	if !strings.HasPrefix(err.Error(), "git ls-tree ") || strings.Contains(err.Error(), "core.hooksPath") {
		t.Errorf("the message is %q: it shows the call without its armour", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Tree(gone, head(t, h.Top)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := h.Commit(ctx, "--all"); err == nil {
		t.Error("an option was taken for a revision")
	}
	if _, err := h.Commit(ctx, "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("no such revision: %v", err)
	}
	if _, ok, err := h.FileAt(ctx, head(t, h.Top), "nobody"); ok || err != nil {
		t.Errorf("a file that is not there: %v, %v", ok, err)
	}
}

func TestLimitedOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &limited{w: &out, left: 4}
	if _, err := l.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("de")); err == nil || out.String() != "abc" {
		t.Errorf("wrote %q, %v", &out, err)
	}
}
