package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/state"
)

func store(t *testing.T) Store {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := state.For(git.Host{Repo: git.Repo{Dir: "/nowhere/repo/.git"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir.Cache(""), 0o700); err != nil {
		t.Fatal(err)
	}
	return Store{State: dir}
}

func plant(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func keep(t *testing.T, s Store, parts ...Part) Name {
	t.Helper()
	n, err := s.Keep(t.Context(), Key("test"), parts)
	if err != nil || n != s.Newest(Key("test")) {
		t.Fatalf("%q, newest %q, %v", n, s.Newest(Key("test")), err)
	}
	return n
}

func read(t *testing.T, s Store, n Name, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.path(n), rel))
	if err != nil {
		return "none"
	}
	return string(b)
}

// A generation has what the run left and what it found and did not remove.
func TestGenerations(t *testing.T) {
	s, dir := store(t), t.TempDir()
	first := keep(t, s, Part{Name: "p", Upper: plant(t, dir+"/1", map[string]string{"a/x": "1", "a/y": "1", "gone/z": "1"})})
	upper := plant(t, dir+"/2", map[string]string{"a/x": "2", "b": "2"})
	if err := unix.Mknod(upper+"/gone", unix.S_IFCHR, 0); err != nil {
		t.Fatal(err) // a sign of removal needs no right
	}
	second := keep(t, s, Part{Name: "p", Upper: upper, Below: []string{s.path(first) + "/p"}})
	for rel, want := range map[string]string{"p/a/x": "2", "p/a/y": "1", "p/b": "2", "p/gone/z": "none"} {
		if got := read(t, s, second, rel); got != want {
			t.Errorf("%s is %q, not %q", rel, got, want)
		}
	}
	if read(t, s, first, "p/a/x") != "1" {
		t.Error("the first generation changed")
	}
	_, release, err := s.Hold(first, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	never := func(Name) bool { return false }
	if err := s.Prune(Key("test"), never); err != nil || read(t, s, first, "p/a/x") != "1" {
		t.Errorf("it was removed while somebody held it: %v", err)
	}
	release()
	if err := s.Prune(Key("test"), func(n Name) bool { return n == first }); err != nil || read(t, s, first, "p/a/x") != "1" {
		t.Errorf("it was removed while somebody needed it: %v", err)
	}
	if err := s.Prune(Key("test"), never); err != nil || read(t, s, first, "p/a/x") != "none" || read(t, s, second, "p/b") != "2" {
		t.Errorf("pruned wrongly: %v", err)
	}
	if dir, _, err := s.Hold(first, time.Now()); dir != "" || err != nil {
		t.Errorf("a removed one is held: %q, %v", dir, err)
	}
}

// What a worker can leave in a cache does not reach anything else.
func TestHostile(t *testing.T) {
	s, dir := store(t), t.TempDir()
	secret := plant(t, dir+"/host", map[string]string{"secret": "s"})
	upper := plant(t, dir+"/u", map[string]string{"ok": "1", "suid": "1", "deep/closed/x": "1", "-rf \n*": "1"})
	for _, err := range []error{
		os.Chmod(upper+"/suid", os.ModeSetuid|0o755),
		unix.Mkfifo(upper+"/fifo", 0o644),
		os.Chmod(upper+"/deep/closed", 0o555),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := keep(t, s, Part{Name: "p", Upper: upper, Never: func(rel string) bool { return rel == "ok" }})
	at := s.path(n) + "/p/"
	for _, gone := range []string{"suid", "fifo", "ok"} {
		if _, err := os.Lstat(at + gone); err == nil {
			t.Errorf("%s was kept", gone)
		}
	}
	if read(t, s, n, "p/-rf \n*") != "1" || read(t, s, n, "p/deep/closed/x") != "1" {
		t.Error("plain files were left out")
	}
	if fi, err := os.Lstat(at + "deep/closed"); err != nil || fi.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", fi, err)
	}
	// A part that is a link is not there.
	if err := os.Symlink(secret, dir+"/aslink"); err != nil {
		t.Fatal(err)
	}
	if n := keep(t, s, Part{Name: "p", Upper: dir + "/aslink"}); read(t, s, n, "p/secret") != "none" {
		t.Error("a link was taken for a cache")
	}
	if removed, err := s.Remove(n); !removed || err != nil {
		t.Errorf("it cannot be removed: %v", err)
	}
}

// What a link leads out of is left out as a whole. What leads to something in the same root stays.
func TestLinks(t *testing.T) {
	s := store(t)
	for name, c := range map[string]struct {
		link, target string
		kept         bool
	}{
		"a file beside it":       {"root/deep/link", "../file", true},
		"by the path in a cell":  {"root/deep/link", "/seen/root/file", true},
		"nothing in it":          {"root/link", "nothing/yet", true},
		"the root itself":        {"root/deep/link", "..", true},
		"a link":                 {"root", "file", false},
		"a neighbour":            {"root/deep/link", "../../file", false},
		"what is around":         {"root/link", "..", false},
		"elsewhere":              {"root/link", "/etc/passwd", false},
		"a tool":                 {"root/link", "/usr/bin/python3", true},
		"a tool, and back":       {"root/link", "/usr/../seen/file", false},
		"a neighbour, absolute":  {"root/link", "/seen/root2/file", false},
		"around, absolute":       {"root/link", "/seen/root/../file", false},
		"through another link":   {"root/deep/link", "here/../../file", false},
		"through the machine's":  {"root/link", "/proc/self/cwd/file", false},
		"in a root in the depth": {"not/wanted/root/link", "../file", false},
	} {
		upper := plant(t, t.TempDir(), map[string]string{"other/file": "1"})
		if c.link != "root" {
			plant(t, upper, map[string]string{filepath.Dir(c.link) + "/file": "1", "root/file": "1"})
		}
		if err := os.Symlink(c.target, filepath.Join(upper, c.link)); err != nil {
			t.Fatal(err)
		}
		wanted := func(rel string) bool { return filepath.Base(rel) == "root" || rel == "other" }
		n := keep(t, s, Part{Name: "p", At: "/seen", Tools: []string{"/usr"}, Upper: upper, Wanted: wanted})
		at := filepath.Join(s.path(n), "p")
		if _, err := os.Lstat(filepath.Join(at, c.link)); (err == nil) != c.kept {
			t.Errorf("%s: %v, kept %v", name, err, c.kept)
		}
		o, err := ReadOutline(at)
		if err != nil || read(t, s, n, "p/other/file") != "1" {
			t.Errorf("%s: the rest was not kept: %v", name, err)
		}
		for _, root := range o.Roots {
			if _, err := os.Lstat(filepath.Join(at, root)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Of a tree, only what is wanted and not tracked is kept, and it is shown only where the
// tree still has room for it.
func TestTree(t *testing.T) {
	s, dir := store(t), t.TempDir()
	base := plant(t, dir+"/base", map[string]string{"src/a.py": "1", "out/tracked": "1", "clash": "1"})
	upper := plant(t, dir+"/u", map[string]string{"src/a.py": "2", "src/c/a.pyc": "1", "new/c/b.pyc": "1", "out/tracked": "2", "out/more": "1", "clash": "2", "other": "1"})
	wanted := func(rel string) bool {
		return rel == "out" || strings.HasPrefix(rel, "out/") || strings.HasSuffix(rel, "/c") || rel == "clash"
	}
	n := keep(t, s, Part{Name: "tree", Upper: upper, Base: []string{base}, Wanted: wanted, Apart: true})
	before, err := os.Stat(upper + "/out/more")
	after, aerr := os.Stat(s.path(n) + "/tree/out/more")
	if err != nil || aerr != nil || os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the file of the run and the kept one: %v, %v", err, aerr)
	}
	for rel, want := range map[string]string{
		"src/c/a.pyc": "1", "new/c/b.pyc": "1", "out/more": "1", "src/a.py": "none", "out/tracked": "none", "clash": "none", "other": "none",
	} {
		if got := read(t, s, n, "tree/"+rel); got != want {
			t.Errorf("%s is %q, not %q", rel, got, want)
		}
	}
	landed := plant(t, dir+"/landed", map[string]string{"src/a.py": "2", "new/b.py": "1", "out/tracked": "1"})
	for name, c := range map[string]struct {
		change func(string)
		want   bool
	}{
		"as it landed":          {func(string) {}, true},
		"a directory is gone":   {func(d string) { os.RemoveAll(d + "/new") }, false},
		"a file in its place":   {func(d string) { os.RemoveAll(d + "/new"); plant(t, d, map[string]string{"new": ""}) }, false},
		"a name is tracked now": {func(d string) { plant(t, d, map[string]string{"out/more": ""}) }, false},
	} {
		d := filepath.Join(t.TempDir(), "d")
		if err := os.CopyFS(d, os.DirFS(landed)); err != nil {
			t.Fatal(err)
		}
		c.change(d)
		if fits, err := Fits(s.path(n)+"/tree", []string{d}); err != nil || fits != c.want {
			t.Errorf("%s: fits %v, %v", name, fits, err)
		}
	}
}

// A process that was killed while it made a generation leaves nothing that counts.
func TestInterrupted(t *testing.T) {
	s, dir := store(t), t.TempDir()
	key := Key("test")
	plant(t, s.path(named(key, 1))+".new", map[string]string{"p/half": "1"})
	if n := s.Newest(key); n != "" {
		t.Errorf("%s counts", n)
	}
	if left, err := s.Unfinished(); err != nil || len(left) != 1 {
		t.Errorf("unfinished: %q, %v", left, err)
	}
	plant(t, s.path(named(key, 1))+removed, map[string]string{"p/half": "1"})
	if n := s.Newest(key); n != "" {
		t.Errorf("%s counts", n)
	}
	if left, err := s.Unfinished(); err != nil || len(left) != 2 {
		t.Errorf("unfinished: %q, %v", left, err)
	}
	n := keep(t, s, Part{Name: "p", Upper: plant(t, dir+"/1", map[string]string{"whole": "1"})})
	if read(t, s, n, "p/half") != "none" || read(t, s, n, "p/whole") != "1" {
		t.Error("half of another was taken")
	}
	if done, err := s.Remove(n); !done || err != nil || s.Newest(key) != "" {
		t.Errorf("not removed: %v, %v", done, err)
	}
	if left, err := s.Unfinished(); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	for _, bad := range []Name{"", "x", "../x", Name(key), Name(key + "-0"), Name(key + "-01"), Name(key + "-1/.."), Name(key[:22] + "-1")} {
		if _, _, err := s.Hold(bad, time.Now()); err == nil || bad.Valid() {
			t.Errorf("%q is a name", bad)
		}
		if _, err := s.Remove(bad); err == nil {
			t.Errorf("%q was removed", bad)
		}
	}
}

// A file of holes costs a worker nothing. A copy of it would fill the disk.
func TestHoles(t *testing.T) {
	s, dir := store(t), t.TempDir()
	upper := plant(t, dir+"/u", map[string]string{"out/small": "1", "out/holes": ""})
	if err := os.Truncate(upper+"/out/holes", maxBytes+1); err != nil {
		t.Skipf("the file system has no such files: %v", err)
	}
	n := keep(t, s, Part{Name: "p", Upper: upper, Apart: true})
	if got := read(t, s, n, "p/out/small"); got != "none" {
		t.Errorf("more was copied than fits: %q", got)
	}
	n = keep(t, s, Part{Name: "p", Upper: upper}) // the control: what is shared takes no room
	if fi, err := os.Stat(s.path(n) + "/p/out/holes"); err != nil || fi.Size() != maxBytes+1 {
		t.Errorf("%v, %v", fi, err)
	}
}

// Every file of a part is older than it: another would never be built again.
func TestFuture(t *testing.T) {
	s, dir := store(t), t.TempDir()
	upper := plant(t, dir+"/u", map[string]string{"out/new": "1", "out/old": "1"})
	made, old := time.Now(), time.Now().Add(-time.Hour).Truncate(time.Second)
	future := made.AddDate(50, 0, 0)
	for name, at := range map[string]time.Time{"out/new": future, "out/old": old} {
		if err := os.Chtimes(filepath.Join(upper, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	origin := Origin{Commit: "c", Made: made.UnixNano(), Since: map[string]int64{"a": 7}}
	n := keep(t, s, Part{Name: "p", Upper: upper, Apart: true, Origin: origin})
	for name, want := range map[string]time.Time{"out/new": made.Add(-time.Millisecond), "out/old": old} {
		if fi, err := os.Stat(filepath.Join(s.path(n), "p", name)); err != nil || !fi.ModTime().Equal(want) {
			t.Errorf("%s: %v, %v, want %v", name, fi.ModTime(), err, want)
		}
	}
	o, err := ReadOutline(filepath.Join(s.path(n), "p"))
	if err != nil || o.Commit != "c" || o.Made != origin.Made || o.Since["a"] != 7 {
		t.Errorf("%+v, %v", o, err)
	}
}

// noteMarked has a note for a directory with a mark.
func noteMarked(dir fs.FS) (map[string]string, error) {
	if _, err := fs.Stat(dir, "mark"); err != nil {
		return nil, nil
	}
	return map[string]string{"note": "ours"}, nil
}

// Notes are written where they belong, in place of what the run left and never into a file
// that is shared with it.
func TestNotes(t *testing.T) {
	s, dir := store(t), t.TempDir()
	upper := plant(t, dir+"/u", map[string]string{"deep/go/mark": "1", "deep/go/note": "theirs", "deep/other": "1", "mark": "1"})
	n := keep(t, s, Part{Name: "p", Upper: upper, Notes: noteMarked})
	for rel, want := range map[string]string{"p/deep/go/note": "ours", "p/note": "ours", "p/deep/note": "none"} {
		if got := read(t, s, n, rel); got != want {
			t.Errorf("%s is %q, not %q", rel, got, want)
		}
	}
	if b, err := os.ReadFile(upper + "/deep/go/note"); err != nil || string(b) != "theirs" {
		t.Errorf("the run's own file is %q, %v", b, err)
	}
}

// A directory of which only a part is kept has notes too, but never in place of a tracked file.
func TestNotesInParts(t *testing.T) {
	s, dir := store(t), t.TempDir()
	upper := plant(t, dir+"/u", map[string]string{"cache/mark": "1", "cache/kept": "1", "cache/other": "1"})
	base := plant(t, dir+"/b", map[string]string{"cache/tracked": "1"})
	wanted := func(rel string) bool { return rel == "cache/mark" || rel == "cache/kept" }
	part := Part{Name: "p", Upper: upper, Base: []string{base}, Wanted: wanted, Notes: noteMarked}
	n := keep(t, s, part)
	for rel, want := range map[string]string{"p/cache/note": "ours", "p/cache/kept": "1", "p/cache/other": "none"} {
		if got := read(t, s, n, rel); got != want {
			t.Errorf("%s is %q, not %q", rel, got, want)
		}
	}
	later := plant(t, dir+"/l", map[string]string{"cache/note": "tracked"})
	if fits, err := Fits(filepath.Join(s.path(n), "p"), []string{later}); fits || err != nil {
		t.Errorf("a note hides a tracked file: %v, %v", fits, err)
	}
	part.Base = []string{later}
	if n, err := s.Keep(t.Context(), Key("k"), []Part{part}); err == nil {
		t.Errorf("%q was kept without its note", n)
	}
}

// A run that removes what was kept before has changed the cache, also with a directory above it.
func TestTouched(t *testing.T) {
	below := plant(t, t.TempDir(), map[string]string{"out/kept/file": "1", "top": "1"})
	wanted := func(rel string) bool { return rel == "top" || rel == "out/kept" }
	for name, c := range map[string]struct {
		files, removed []string
		want           bool
	}{
		"nothing":                {},
		"something else":         {files: []string{"src/x", "out/other"}},
		"something else removed": {removed: []string{"src", "out-of"}},
		"a new file":             {files: []string{"out/kept/more"}, want: true},
		"it is removed":          {removed: []string{"top"}, want: true},
		"what it is in is":       {removed: []string{"out"}, want: true},
	} {
		upper := t.TempDir()
		for _, f := range c.files {
			plant(t, upper, map[string]string{f: "1"})
		}
		for _, r := range c.removed {
			if err := unix.Mknod(filepath.Join(upper, r), unix.S_IFCHR, 0); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Part{Upper: upper, Below: []string{below}, Wanted: wanted}.Touched()
		if got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
