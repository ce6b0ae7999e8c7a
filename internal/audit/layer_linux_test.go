package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// layerSite is a directory of layers beside the host's directory that one of them
// covers, put together as overlayfs leaves them.
type layerSite struct {
	t              *testing.T
	top, host, dir string // all layers; what is covered; the worker's files
}

func newLayerSite(t *testing.T) *layerSite {
	t.Helper()
	root := t.TempDir()
	s := &layerSite{t, root + "/layers", root + "/host", root + "/layers/at-x/upper"}
	for _, d := range []string{s.host, s.dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *layerSite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// whiteout is what the kernel leaves where a name was removed.
func (s *layerSite) whiteout(rel string) {
	s.t.Helper()
	at := filepath.Join(s.dir, rel)
	s.must(os.MkdirAll(filepath.Dir(at), 0o755))
	s.must(unix.Mknod(at, unix.S_IFCHR, 0))
}

func (s *layerSite) opaque(rel string) {
	s.t.Helper()
	if err := unix.Setxattr(filepath.Join(s.dir, rel), "user.overlay.opaque", []byte("y"), 0); err != nil {
		s.t.Skipf("this file system has no user attributes: %v", err)
	}
}

func (s *layerSite) look(capture, home bool, hidden, made []string) []Finding {
	s.t.Helper()
	found, err := Outside(context.Background(), Layers{
		Top: s.top, Home: s.host, Capture: capture,
		List: []Layer{{Name: "at-x", At: s.host, Overlay: true, IsHome: home, Hidden: hidden, Made: made}},
	})
	s.must(err)
	return found
}

// want compares findings with lines of kind, class and path below the host's
// directory.
func (s *layerSite) want(found []Finding, lines ...string) {
	s.t.Helper()
	var got []string
	for _, f := range found {
		rel := strings.TrimPrefix(string(f.Path), s.host)
		got = append(got, fmt.Sprintf("%s %s %s", f.Kind, f.Class, rel))
	}
	if a, b := strings.Join(got, "\n"), strings.Join(lines, "\n"); a != b {
		s.t.Errorf("found\n%s\nwant\n%s", a, b)
	}
}

func TestOutsideReportsEveryKind(t *testing.T) {
	s := newLayerSite(t)
	plant(t, s.host, map[string]string{
		"changed": "old", "same": "same", "resized": "x", "mode": "m", "gone": "g", "gonedir/x": "x",
		"anew/x": "x", "was-file": "f", "was-dir/x": "x", "parent/other": "o",
	})
	plant(t, s.dir, map[string]string{
		"changed": "new", "same": "same", "resized": "longer", "mode": "m", "added": "a",
		"anew/y": "y", "was-file/z": "z", "was-dir": "now a file", "parent/deep/new": "n", "odd\x1b[2J\xff": "",
	})
	s.must(os.Chmod(s.dir+"/mode", 0o4755))
	s.must(os.Mkdir(s.dir+"/empty", 0o755))
	s.must(os.Symlink("/etc/shadow", s.dir+"/link"))
	s.must(unix.Mkfifo(s.dir+"/pipe", 0o600))
	s.whiteout("gone")
	s.whiteout("gonedir")
	s.whiteout("never-there")
	s.opaque("anew")
	found := s.look(true, false, nil, nil)
	s.want(found,
		"added violation /added",
		"retyped violation /anew",
		"added violation /anew/y",
		"modified violation /changed",
		"added violation /empty",
		"deleted violation /gone",
		"deleted violation /gonedir",
		"added violation /link",
		"metadata violation /mode",
		"added violation /odd\x1b[2J\xff",
		"added violation /parent/deep/new",
		"special violation /pipe",
		"modified violation /resized",
		"touched note /same",
		"retyped violation /was-dir",
		"retyped violation /was-file",
		"added violation /was-file/z",
	)
	for _, f := range found {
		switch {
		case strings.HasSuffix(string(f.Path), "/changed"):
			const sum = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437" // of "new"
			if f.SHA256 != sum || f.Size != 3 || f.Detail != "3 bytes, sha256 "+sum {
				t.Errorf("changed: %+v", f)
			}
			if f.Kept != "at-x/upper/changed" || f.Source != "layer at-x" || !f.Outside() {
				t.Errorf("changed: kept at %q, source %q", f.Kept, f.Source)
			}
			r, err := KeptContent(s.top, f)
			s.must(err)
			r.Close()
		case strings.HasSuffix(string(f.Path), "/link"):
			if f.Target != "/etc/shadow" || f.SHA256 != "" {
				t.Errorf("the link was followed: %+v", f)
			}
			if r, err := KeptContent(s.top, f); err == nil {
				r.Close()
				t.Error("the content of a link was opened")
			}
		}
		if text := f.Path.String() + f.Detail; strings.Contains(text, "\x1b") || !utf8.ValidString(text) {
			t.Errorf("not safe for a terminal: %q", f.Path.String())
		}
	}
}

// What cordon put into a layer is not the worker's. What the worker put in its
// place is.
func TestOutsideKnowsWhatIsCordons(t *testing.T) {
	s := newLayerSite(t)
	plant(t, s.host, map[string]string{"secret/key": "k", "other/key": "k", "deep/er/key": "k", "empty/in": "i", "file": "f"})
	hidden := []string{"secret", "other", "deep/er/key", "not/there", "empty", "file"}
	made := []string{"empty", "empty/mount", "mounts/a"}
	s.whiteout("secret")
	s.whiteout("deep/er/key")
	s.whiteout("not")
	s.whiteout("file")
	s.must(os.MkdirAll(s.dir+"/empty/mount", 0o755))
	s.must(os.MkdirAll(s.dir+"/mounts/a", 0o755))
	s.must(os.Chmod(s.dir+"/deep", 0o700))
	s.want(s.look(true, false, hidden, made))

	plant(t, s.dir, map[string]string{"other/key": "k", "empty/mount/planted": "p"})
	s.must(os.Remove(s.dir + "/file"))
	s.must(os.WriteFile(s.dir+"/file", []byte("f"), 0o644))
	s.want(s.look(true, false, hidden, made),
		"added violation /empty/mount/planted",
		"added violation /file", // although the host's is the same: the worker has not seen it
		"added violation /other/key",
	)
}

func TestHomeIsTheWorkersOwn(t *testing.T) {
	s := newLayerSite(t)
	plant(t, s.host, map[string]string{".bashrc": "b", ".profile": "p", ".config/git/config": "c", ".zshrc": "z", ".ssh/id": "i"})
	plant(t, s.dir, map[string]string{
		".cache/go-build/x": "1", ".npm/_cacache/x": "1", ".claude.json": "{}", ".claude/projects/p/s.jsonl": "{}", ".config/some/app": "x",
		".bashrc": "evil", ".profile": "p", ".ssh/authorized_keys": "k", ".config/git/hooks/pre-commit": "evil",
		".claude/settings.local.json": "{}", ".cargo/config.toml": "x", ".cargo/registry/x": "x", "bin/ls": "evil",
		".local/lib/python3.13/site-packages/a.pth": "import os", ".local/lib/python3.13/site-packages/a.py": "",
	})
	s.whiteout(".zshrc")
	s.whiteout(".gnupg")
	s.must(os.Symlink("/tmp/mine", s.dir+"/.emacs.d"))
	s.must(os.Symlink("/tmp/mine", s.dir+"/.gemini"))
	s.must(os.MkdirAll(s.dir+"/.vim/plugin", 0o755))
	for class, capture := range map[string]bool{"violation": true, "note": false} {
		found := s.look(capture, true, []string{".ssh", ".gnupg"}, nil)
		s.want(found,
			"modified "+class+" /.bashrc",
			"added "+class+" /.cargo/config.toml",
			"added "+class+" /.claude/settings.local.json",
			"added "+class+" /.config/git/hooks/pre-commit",
			"added "+class+" /.emacs.d",
			"added "+class+" /.gemini", // what it leads to is looked for nowhere else
			"added "+class+" /.local/lib/python3.13/site-packages/a.pth",
			"added "+class+" /.ssh/authorized_keys",
			"deleted "+class+" /.zshrc",
			"added "+class+" /bin/ls",
		)
		for _, f := range found {
			if !strings.Contains(f.Rule, "yours is unchanged") {
				t.Errorf("%s: %s", f.Path, f.Rule)
			}
		}
	}
}

// A home that is no copy began empty: nothing in it was the host's.
func TestPlainHome(t *testing.T) {
	s := newLayerSite(t)
	plant(t, s.host, map[string]string{".bashrc": "b"})
	plant(t, s.top+"/home", map[string]string{".bashrc": "b", ".cache/x": "x"})
	s.must(unix.Mknod(s.top+"/home/.zshrc", unix.S_IFCHR, 0))
	found, err := Outside(t.Context(), Layers{Top: s.top, Home: s.host, List: []Layer{{Name: "home", At: s.host, IsHome: true}}})
	s.must(err)
	s.want(found, "added note /.bashrc", "special note /.zshrc")
	if found[0].Kept != "home/.bashrc" {
		t.Errorf("kept at %q", found[0].Kept)
	}
}

// A part of a home with a layer of its own is judged by its place in the home.
func TestPartOfHome(t *testing.T) {
	s := newLayerSite(t)
	plant(t, s.dir, map[string]string{"git/config": "x", "bin/x": "x"})
	found, err := Outside(t.Context(), Layers{Top: s.top, Home: s.host, List: []Layer{{Name: "at-x", At: s.host + "/.config", Overlay: true, IsHome: true}}})
	s.must(err)
	s.want(found, "added note /.config/git/config")
}

// A directory that its owner has locked is looked into all the same, and is
// locked again afterwards.
func TestLockedDirectoriesHideNothing(t *testing.T) {
	s := newLayerSite(t)
	for d := filepath.Dir(s.top); d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		s.must(os.Chmod(d, 0o755))
	}
	plant(t, s.dir, map[string]string{"locked/x": "1", "listed/y": "1", "file": "1"})
	if os.Geteuid() == 0 {
		s.must(filepath.WalkDir(s.top, func(p string, _ os.DirEntry, err error) error { return os.Lchown(p, 65534, 65534) }))
	}
	modes := map[string]os.FileMode{"locked": 0, "listed": 0o400, "file": 0}
	for name, mode := range modes {
		s.must(os.Chmod(filepath.Join(s.dir, name), mode))
		t.Cleanup(func() { os.Chmod(filepath.Join(s.dir, name), 0o700) })
	}
	var found []Finding
	ordinary(t, func() { found = s.look(true, false, nil, nil) })
	s.want(found, "added violation /file", "added violation /listed/y", "added violation /locked/x")
	if found[0].SHA256 == "" {
		t.Errorf("a locked file was not read: %s", found[0].Detail)
	}
	for name, mode := range modes {
		fi, err := os.Lstat(filepath.Join(s.dir, name))
		s.must(err)
		if fi.Mode().Perm() != mode {
			t.Errorf("%s is left with mode %o", name, fi.Mode().Perm())
		}
	}
}

// What is not there, or cannot be looked at, is a violation in every mode.
func TestUnreadableLayers(t *testing.T) {
	s := newLayerSite(t)
	for name, spoil := range map[string]func(){
		"gone":    func() { s.must(os.RemoveAll(s.top + "/at-x")) },
		"a link":  func() { s.must(os.Symlink("/etc", s.top+"/at-x")) },
		"no home": func() { s.must(os.Remove(s.top + "/at-x")); s.must(os.Mkdir(s.top+"/at-x", 0o700)) },
	} {
		s.must(os.RemoveAll(s.top + "/at-x"))
		if name == "no home" {
			s.must(os.Mkdir(s.top+"/at-x", 0o700))
		}
		spoil()
		found := s.look(false, true, nil, nil)
		if len(found) != 1 || found[0].Kind != Unreadable || found[0].Class != Violation {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestOutsideIsBounded(t *testing.T) {
	s := newLayerSite(t)
	for i := range maxLayerFindings + 7 {
		s.must(os.WriteFile(fmt.Sprintf("%s/%05d", s.dir, i), nil, 0o600))
	}
	sparse := s.dir + "/sparse"
	s.must(os.WriteFile(sparse, nil, 0o600))
	s.must(os.Truncate(sparse, 1<<40))
	began := time.Now()
	found := s.look(true, false, nil, nil)
	if len(found) != maxLayerFindings+1 {
		t.Fatalf("%d findings", len(found))
	}
	if last := found[maxLayerFindings]; last.Class != Violation || last.Detail != "and 8 more paths" {
		t.Errorf("the last finding is %+v", last)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Outside(ctx, Layers{Top: s.top, List: []Layer{{Name: "at-x", At: s.host, Overlay: true}}}); err == nil {
		t.Error("an interrupted audit is none")
	}
}

// A hole of a terabyte is not read, and is reported.
func TestSparseFile(t *testing.T) {
	s := newLayerSite(t)
	s.must(os.WriteFile(s.dir+"/sparse", nil, 0o600))
	s.must(os.Truncate(s.dir+"/sparse", 1<<40))
	found := s.look(true, false, nil, nil)
	s.want(found, "added violation /sparse")
	if found[0].SHA256 != "" || !strings.Contains(found[0].Detail, "not read") {
		t.Errorf("%+v", found[0])
	}
}
