package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Version{
		"git version 2.39.5\n":                 {2, 39, 5},
		"git version 2.39.5 (Apple Git-154)\n": {2, 39, 5},
		"git version 2.47.1.windows.1\n":       {2, 47, 1},
		"git version 2.50.0-rc1\n":             {2, 50, 0},
		"git version 2.50.0.rc2.18.gabc\n":     {2, 50, 0},
		"git version 2.39.GIT\n":               {2, 39, 0},
		"git version 10.0\n":                   {10, 0, 0},
	} {
		if got, err := parseVersion(text); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "git version ", "git version x.y", "2.39.5", "hg version 6"} {
		if got, err := parseVersion(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	if !(Version{2, 37, 9}).Less(MinVersion) || (Version{2, 38, 0}).Less(MinVersion) || (Version{3, 0, 0}).Less(MinVersion) {
		t.Error("versions are compared wrongly")
	}
}

func TestFindRefusesAnOldGit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "git"), "#!/bin/sh\necho git version 2.37.0\n")
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	if _, err := Find(context.Background()); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(context.Background()); err == nil {
		t.Error("found a git where there is none")
	}
}

// The object directory of a host may be anywhere.
func TestAlternatesAtAnyPath(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, name := range []string{"plain", "new\nline", `quo"te`, `back\slash`, "#comment", " space ", "tab\t", "umläut", "a:b"} {
		src := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(src, 0o755); err != nil {
			t.Fatal(err)
		}
		plain(t, src, "init", "-q", "-b", "main")
		tip := commit(t, src, "base", map[string]string{"a": "1"})
		r, err := Init(ctx, find(t), t.TempDir(), InitOptions{Bare: true, Format: SHA1, Alternate: filepath.Join(src, ".git", "objects")})
		if err != nil {
			t.Fatal(err)
		}
		if files, err := r.Tree(ctx, tip); err != nil || len(files) != 1 {
			t.Errorf("%q: %v, %v", name, files, err)
		}
	}
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bin := find(t)
	h, _ := host(t, map[string]string{"sub/a": "1"})
	if h.Bare || h.Shallow || h.Format != SHA1 || h.Private != h.Dir || h.Dir != filepath.Join(h.Top, ".git") {
		t.Errorf("got %+v", h)
	}
	sub := must[Host](t)(Discover(ctx, bin, filepath.Join(h.Top, "sub")))
	if sub.Dir != h.Dir || sub.Top != h.Top {
		t.Errorf("from a subdirectory: %+v", sub)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(h.Top, link); err != nil {
		t.Fatal(err)
	}
	if got := must[Host](t)(Discover(ctx, bin, link)); got.Dir != h.Dir {
		t.Errorf("by a link: %s, want %s", got.Dir, h.Dir)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	plain(t, h.Top, "worktree", "add", "-q", linked)
	if got := must[Host](t)(Discover(ctx, bin, linked)); got.Dir != h.Dir || got.Private == h.Dir || filepath.Base(got.Top) != "linked" {
		t.Errorf("in a linked worktree: %+v", got)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	plain(t, "/", "clone", "-q", "--bare", h.Top, bare)
	if got := must[Host](t)(Discover(ctx, bin, bare)); !got.Bare || got.Top != "" {
		t.Errorf("bare: %+v", got)
	}
	if _, err := Discover(ctx, bin, t.TempDir()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("nowhere: %v", err)
	}
	if got, err := Discover(ctx, bin, h.Dir); err == nil {
		t.Errorf("inside .git: %+v", got)
	}
	// In one call or in steps, the answer is the same; a newline in the path needs the steps.
	odd := filepath.Join(t.TempDir(), "two\nlines")
	plain(t, "/", "clone", "-q", h.Top, odd)
	if got := must[Host](t)(Discover(ctx, bin, odd)); got.Top != odd || got.Dir != filepath.Join(odd, ".git") || got.Private != got.Dir || got.Bare || got.Shallow {
		t.Errorf("with a newline in the path: %+v", got)
	}
}

func TestCheckouts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, main := host(t, map[string]string{"a": "1"})
	place := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	odd := filepath.Join(place, "new\nline")
	plain(t, h.Top, "worktree", "add", "-q", "-b", "odd", odd)
	plain(t, h.Top, "worktree", "add", "-q", "--detach", filepath.Join(place, "loose"))
	plain(t, h.Top, "worktree", "add", "-q", "-b", "gone", filepath.Join(place, "gone"))
	if err := os.RemoveAll(filepath.Join(place, "gone")); err != nil {
		t.Fatal(err)
	}
	main.Head = head(t, h.Top)
	want := map[string]Checkout{h.Top: main}
	for _, c := range []Checkout{
		{Top: odd, Branch: "refs/heads/odd"}, {Top: filepath.Join(place, "loose")},
		{Top: filepath.Join(place, "gone"), Branch: "refs/heads/gone", Prunable: true},
	} {
		c.Head, c.Linked = main.Head, true
		want[c.Top] = c
	}
	all := must[[]Checkout](t)(h.Checkouts(ctx))
	got := map[string]Checkout{}
	for _, c := range all {
		if c.Linked {
			if got := read(t, filepath.Join(c.GitDir, "gitdir")); !strings.HasPrefix(got, c.Top) {
				t.Errorf("the git directory of %q is of %q", c.Top, got)
			}
			c.GitDir = ""
		}
		got[c.Top] = c
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestStatusAndHiddenBits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, c := host(t, map[string]string{"a": "1", "b": "1", "hid\nden": "1", "skipped": "1", "same": "11"})
	plain(t, h.Top, "update-index", "--assume-unchanged", "hid\nden")
	plain(t, h.Top, "update-index", "--skip-worktree", "skipped")
	write(t, filepath.Join(h.Top, "hid\nden"), "2")
	write(t, filepath.Join(h.Top, "skipped"), "2")
	if got := plain(t, h.Top, "status", "--porcelain"); got != "" {
		t.Fatalf("plain status sees %q: nothing is hidden", got)
	}
	if got := must[[]Change](t)(h.Status(ctx, c, true)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	hidden := must[[]string](t)(h.HiddenBits(ctx, c))
	if !reflect.DeepEqual(hidden, []string{"h hid\nden", "S skipped"}) {
		t.Errorf("hidden: %q", hidden)
	}
	write(t, filepath.Join(h.Top, "a"), "2")
	write(t, filepath.Join(h.Top, "new\nfile"), "2")
	plain(t, h.Top, "rm", "-q", "--cached", "b")
	want := []Change{{"D ", "b"}, {" M", "a"}}
	if got := must[[]Change](t)(h.Status(ctx, c, false)); !sameChanges(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = append(want, Change{"??", "b"}, Change{"??", "new\nfile"})
	if got := must[[]Change](t)(h.Status(ctx, c, true)); !sameChanges(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func sameChanges(a, b []Change) bool {
	set := func(list []Change) map[Change]bool {
		m := map[Change]bool{}
		for _, c := range list {
			m[c] = true
		}
		return m
	}
	return len(a) == len(b) && reflect.DeepEqual(set(a), set(b))
}

func TestOID(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0123456789", 4)
	if o, err := ParseOID(good); err != nil || o.Short() != "0123456789" || o.IsZero() {
		t.Errorf("%q: %v", o, err)
	}
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(strings.Repeat("a", 40)), strings.Repeat("g", 40), good[:39] + "\n"} {
		if o, err := ParseOID(bad); err == nil {
			t.Errorf("%q was taken for %q", bad, o)
		}
	}
	if !SHA1.Zero().IsZero() || len(SHA256.Zero()) != 64 || !OID("").IsZero() {
		t.Error("zero is not zero")
	}
	if got := OID("abc").Short(); got != "abc" {
		t.Errorf("short of a short one: %q", got)
	}
	// git hash-object agrees.
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "content\n")
	if got, want := SHA1.Blob([]byte("content\n")), plain(t, dir, "hash-object", "f"); string(got) != want {
		t.Errorf("%s, git says %s", got, want)
	}
}
