package audit

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// trickSite is a base in which there is something to hide a change in.
func trickSite(t *testing.T) *overlaySite {
	s := newOverlaySite(t)
	for name, content := range map[string]string{
		".gitignore": "ignored\n", "src/f1": "one\n", "src/f2": "two\n", "src/deep/f3": "three\n", "run": "#!run\n", "readme": "r\n",
		"docs/d": "d\n", "link": "->src/f1", "loop/way": "->.", "loop/old": "->way/../../../x",
	} {
		s.add(name, content)
	}
	return s
}

// Every way to change a tree without git noticing is seen in a layer, and seen as
// it is in a plain tree. The numbers are those of the list of tricks that status,
// diff and add were tried with.
func TestTricksAreSeenInLayers(t *testing.T) {
	for name, c := range map[string]struct {
		acts []act
		want map[string]Kind
	}{
		"00 a plain edit":                 {[]act{{"append!", "src/f1", "x"}}, map[string]Kind{"src/f1": Modified}},
		"03 a directory deleted":          {[]act{{"rmall!", "src", ""}}, map[string]Kind{"src/f1": Deleted, "src/f2": Deleted, "src/deep/f3": Deleted}},
		"04 excluded by .git":             {[]act{{"write!", "hidden", "x"}}, map[string]Kind{"hidden": Added}},
		"05 a directory ignores itself":   {[]act{{"write!", "n/.gitignore", "*"}, {"write!", "n/x", "x"}}, map[string]Kind{"n/.gitignore": Added, "n/x": Added}},
		"06 ignored before":               {[]act{{"write!", "ignored", "x"}}, map[string]Kind{"ignored": Added}},
		"08 a repository inside":          {[]act{{"init!", "n", ""}, {"write!", "n/x", "x"}}, map[string]Kind{"n/x": Nested, "n/.git/HEAD": Nested}},
		"09 a repository over files":      {[]act{{"init!", "src", ""}, {"append!", "src/f1", "x"}}, map[string]Kind{"src/f1": Nested, "src/.git/HEAD": Nested}},
		"11 the same size":                {[]act{{"write!", "src/f1", "enO\n"}}, map[string]Kind{"src/f1": Modified}},
		"12 a mode":                       {[]act{{"chmod!", "src/f1", "755"}, {"chmod!", "run", "644"}}, map[string]Kind{"src/f1": Chmod, "run": Chmod}},
		"15 other line ends":              {[]act{{"write!", "src/f1", "one\r\n"}}, map[string]Kind{"src/f1": Modified}},
		"23 a rename":                     {[]act{{"rename!", "src/f1", "src/g"}}, map[string]Kind{"src/f1": Deleted, "src/g": Added}},
		"24 a newline":                    {[]act{{"write!", "src/a\nb", "x"}}, map[string]Kind{"src/a\nb": BadName}},
		"25 not UTF-8":                    {[]act{{"write!", "src/\xff", "x"}}, map[string]Kind{"src/\xff": BadName}},
		"26 a directory is a link now":    {[]act{{"rmall!", "docs", ""}, {"link!", "docs", "src"}}, map[string]Kind{"docs": Added, "docs/d": Deleted}},
		"27 a .git file":                  {[]act{{"write!", "src/.git", "gitdir: x"}, {"append!", "src/f1", "x"}}, map[string]Kind{"src/.git": Nested, "src/f1": Nested}},
		"29 a pipe":                       {[]act{{"pipe!", "src/p", ""}}, map[string]Kind{"src/p": Special}},
		"31 other letters":                {[]act{{"rename!", "readme", "README"}}, map[string]Kind{"readme": Deleted, "README": Added}},
		"31 other letters beside":         {[]act{{"write!", "README", "x"}}, map[string]Kind{"README": Collision}},
		"31 other letters above":          {[]act{{"write!", "SRC/new", "x"}}, map[string]Kind{"SRC/new": Collision}},
		"35 a setuid bit":                 {[]act{{"chmod!", "run", "4755"}}, map[string]Kind{"run": SetID}},
		"halves of a repository":          {[]act{{"write!", "HEAD", "x"}, {"write!", "config", "x"}}, map[string]Kind{"HEAD": Nested, "config": Nested}},
		"a second name":                   {[]act{{"hardlink!", "src/f1", "src/g"}}, map[string]Kind{"src/g": HardLink}},
		"a link out":                      {[]act{{"link!", "out", "/nonexistent"}}, map[string]Kind{"out": LinkOut}},
		"a link through the base's":       {[]act{{"link!", "out", "loop/way/../../x"}}, map[string]Kind{"out": LinkOut, "loop/old": ""}},
		"a link that bends another":       {[]act{{"relink!", "loop/way", "../docs"}}, map[string]Kind{"loop/way": Modified, "loop/old": LinkOut}},
		"a file is a directory now":       {[]act{{"dir!", "readme", "x"}}, map[string]Kind{"readme": Deleted, "readme/in": Added}},
		"a directory is a file now":       {[]act{{"file!", "src", "x"}}, map[string]Kind{"src": Added, "src/f1": Deleted, "src/f2": Deleted, "src/deep/f3": Deleted}},
		"a directory made anew":           {[]act{{"rmall!", "src", ""}, {"write!", "src/f1", "one\n"}}, map[string]Kind{"src/f2": Deleted, "src/deep/f3": Deleted}},
		"anew inside what is anew":        {[]act{{"rmall!", "src", ""}, {"mkdir!", "src/deep", ""}, {"rmall!", "src/deep", ""}, {"write!", "src/deep/f4", "x"}}, map[string]Kind{"src/f1": Deleted, "src/f2": Deleted, "src/deep/f3": Deleted, "src/deep/f4": Added}},
		"touched only":                    {[]act{{"append!", "src/f1", ""}, {"chmod!", "readme", "600"}, {"chmod!", "src", "700"}}, map[string]Kind{}},
		"written as it was":               {[]act{{"rm!", "src/f1", ""}, {"write!", "src/f1", "one\n"}}, map[string]Kind{}},
		"moved and back":                  {[]act{{"move!", "src", "gone"}, {"move!", "gone", "src"}}, map[string]Kind{}},
		"made and removed":                {[]act{{"write!", "new/x", "x"}, {"rmall!", "new", ""}}, map[string]Kind{}},
		"a directory moved":               {[]act{{"move!", "docs", "papers"}}, map[string]Kind{"docs/d": Deleted, "papers/d": Added}},
		"a forged sign on a directory":    {[]act{{"attribute!", "src", "user.overlay.opaque"}}, map[string]Kind{}},
		"a forged sign on a file":         {[]act{{"attribute!", "src/f1", "user.overlay.metacopy"}, {"attribute!", "src/f1", "user.overlay.redirect"}}, map[string]Kind{}},
		"a forged sign with a new file":   {[]act{{"write!", "src/new", ""}, {"attribute!", "src/new", "user.overlay.whiteout"}}, map[string]Kind{"src/new": Added}},
		"a device in place of a whiteout": {[]act{{"rm!", "src/f1", ""}, {"device", "src/f1", ""}}, map[string]Kind{"src/f1": Deleted}},
	} {
		t.Run(name, func(t *testing.T) {
			s := trickSite(t)
			layer := s.tree()
			s.work(c.acts...)
			got := map[string]Change{}
			for _, ch := range s.agree(layer) {
				if !strings.Contains(string(ch.Path), ".git/") || strings.HasSuffix(string(ch.Path), "HEAD") {
					got[string(ch.Path)] = ch
				}
			}
			for p, k := range c.want {
				if k == "" { // whatever it is
					delete(c.want, p)
					delete(got, p)
				}
			}
			wantKinds(t, got, c.want)
		})
	}
}

// A directory of the base that was copied into the layer beforehand is the base's
// until something in it is changed, and can be renamed.
func TestPreparedDirectories(t *testing.T) {
	s := trickSite(t)
	s.prepare("src")
	layer := s.tree()
	s.work()
	wantKinds(t, toMap(s.agree(layer)), map[string]Kind{})

	s = trickSite(t)
	s.prepare("src")
	layer = s.tree()
	s.work(act{"rename!", "src/deep", "src/moved"}, act{"rm!", "src/f2", ""})
	wantKinds(t, toMap(s.agree(layer)), map[string]Kind{"src/deep/f3": Deleted, "src/moved/f3": Added, "src/f2": Deleted})
}

func toMap(list []Change) map[string]Change {
	m := map[string]Change{}
	for _, ch := range list {
		m[string(ch.Path)] = ch
	}
	return m
}

// Signs that the kernel does not leave are not believed.
func TestForgedLayers(t *testing.T) {
	mark := func(s *overlaySite, rel, name, value string) {
		if err := unix.Setxattr(filepath.Join(s.upper, rel), "user.overlay."+name, []byte(value), 0); err != nil {
			t.Skipf("this file system has no user attributes: %v", err)
		}
	}
	for name, c := range map[string]struct {
		forge func(s *overlaySite)
		want  map[string]Kind
	}{
		"content elsewhere": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{"src/f1": "x"})
			mark(s, "src/f1", "metacopy", "")
		}, map[string]Kind{"src/f1": Unreadable}},
		"a directory from elsewhere": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{"src/f1": "x"})
			mark(s, "src", "redirect", "/docs")
		}, map[string]Kind{"src": Unreadable}},
		"a top from elsewhere": {func(s *overlaySite) { mark(s, "", "redirect", "/docs") }, map[string]Kind{"": Unreadable}},
		"a sign of another kind": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{"src/f1": "x"})
			mark(s, "src", "opaque", "x")
		}, map[string]Kind{"src": Unreadable}},
		"a removal by attribute": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{"src/f1": ""})
			mark(s, "src/f1", "whiteout", "")
		}, map[string]Kind{"src/f1": Unreadable}},
		"the kernel's own": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{"src/f1": "one\n"})
			mark(s, "src/f1", "origin", "x")
			mark(s, "src", "impure", "y")
		}, map[string]Kind{}},
		"a repository at the top":     {func(s *overlaySite) { plant(t, s.upper, map[string]string{".git/config": "x"}) }, map[string]Kind{".git": Unreadable}},
		"a file for a repository":     {func(s *overlaySite) { plant(t, s.upper, map[string]string{".git": "gitdir: x"}) }, map[string]Kind{".git": Unreadable}},
		"a place for a repository":    {func(s *overlaySite) { plant(t, s.upper, map[string]string{".git/": ""}) }, map[string]Kind{}},
		"a removal of nothing":        {func(s *overlaySite) { s.must(unix.Mknod(s.upper+"/none", unix.S_IFCHR, 0)) }, map[string]Kind{}},
		"a removal of the repository": {func(s *overlaySite) { s.must(unix.Mknod(s.upper+"/.git", unix.S_IFCHR, 0)) }, map[string]Kind{".git": Unreadable}},
		"too deep": {func(s *overlaySite) {
			plant(t, s.upper, map[string]string{strings.Repeat("d/", maxDepth+1) + "x": "1"})
		}, map[string]Kind{strings.TrimSuffix(strings.Repeat("d/", maxDepth+1), "/"): Unreadable}},
	} {
		t.Run(name, func(t *testing.T) {
			s := trickSite(t)
			layer := s.tree()
			c.forge(s)
			wantKinds(t, collect(t, layer), c.want)
		})
	}
}

// What a worker has locked is read all the same, is locked again afterwards, and
// can be taken over.
func TestLockedDirectoriesOfALayer(t *testing.T) {
	s := trickSite(t)
	for d := s.dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		s.must(os.Chmod(d, 0o755))
	}
	plant(t, s.upper, map[string]string{"src/f1": "changed", "src/deep/f3": "three\n", "new/x": "x", "file": "f"})
	modes := map[string]os.FileMode{"src/deep": 0, "src": 0, "new": 0o400, "file": 0, "": 0o600}
	if os.Geteuid() == 0 {
		s.must(filepath.WalkDir(s.upper, func(p string, _ os.DirEntry, err error) error { return os.Lchown(p, 65534, 65534) }))
	}
	for _, name := range []string{"src/deep", "src", "new", "file", ""} {
		s.must(os.Chmod(filepath.Join(s.upper, name), modes[name]))
	}
	t.Cleanup(func() {
		for _, name := range []string{"", "src", "src/deep", "new"} {
			os.Chmod(filepath.Join(s.upper, name), 0o700)
		}
	})
	layer := s.tree()
	var found []string
	ordinary(t, func() {
		v, err := walk(s.upper, true, false, maxEntries, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer v.lockAgain()
		for _, n := range v.nodes {
			if n.err != nil {
				t.Errorf("%s: %v", n.path, n.err)
			}
			found = append(found, n.path)
		}
	})
	if got := strings.Join(found, " "); got != "file new/x src/deep/f3 src/f1" {
		t.Errorf("found %s", got)
	}
	wantKinds(t, collect(t, layer), map[string]Kind{"file": Added, "new/x": Added, "src/f1": Modified})
	ordinary(t, func() {
		for p, want := range map[string]string{"src/f1": "changed", "file": "f"} {
			r, _, err := Content(s.upper, Finding{Change: Change{Path: Path(p), New: git.Entry{Mode: git.Regular}}})
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := io.ReadAll(r); string(text) != want || err != nil {
				t.Errorf("%s is %q, %v", p, text, err)
			}
			r.Close()
		}
	})
	for _, name := range []string{"", "file", "new", "src", "src/deep"} {
		fi, err := os.Lstat(filepath.Join(s.upper, name))
		s.must(err)
		if fi.Mode().Perm() != modes[name] {
			t.Errorf("%q is left with mode %o", name, fi.Mode().Perm())
		}
		s.must(os.Chmod(filepath.Join(s.upper, name), 0o700)) // to look at the next
	}
}

// A base that cannot be read makes no empty answer.
func TestUnreadableBase(t *testing.T) {
	s := trickSite(t)
	layer := s.tree()
	plant(t, s.upper, map[string]string{"src/f1": "x"})
	layer.Base.Close()
	if list, err := Collect(t.Context(), layer); err == nil {
		t.Errorf("without its base the tree has %v", list)
	}
	s = trickSite(t)
	layer = s.tree()
	layer.Base = layer.Base.At(git.SHA1.Zero())
	if list, err := Collect(t.Context(), layer); err == nil {
		t.Errorf("without its base the tree has %v", list)
	}
}
