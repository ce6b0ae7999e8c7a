package follow

import (
	"os"
	"strings"
	"testing"
)

// Whatever a checkout is set up with, it follows as git itself would have it.
func TestKindsOfCheckouts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    []string          // git commands, before anything is committed
		before map[string]string // beside the usual files
		after  []string          // git commands in the checkout, before it follows
		want   map[string]string // files then; "" is absent
	}{
		"plain":           {want: map[string]string{"edit": "2\n"}},
		"split index":     {after: []string{"update-index --split-index"}},
		"split by config": {set: []string{"config core.splitIndex true"}, after: []string{"status"}},
		"untracked cache": {set: []string{"config core.untrackedCache true"}, after: []string{"status"}},
		"index version 4": {set: []string{"config index.version 4"}, after: []string{"status"}},
		"many files":      {set: []string{"config feature.manyFiles true"}, after: []string{"status"}},
		"fsmonitor":       {set: []string{"config core.fsmonitor true"}, after: []string{"update-index --fsmonitor-valid keep"}},
		"converted to CRLF": {
			before: map[string]string{".gitattributes": "* text eol=crlf\n"},
			want:   map[string]string{"edit": "2\r\n", "new/file": "n\r\n"},
		},
		"autocrlf": {set: []string{"config core.autocrlf true"}, want: map[string]string{"edit": "2\r\n"}},
		"encoded": {
			before: map[string]string{".gitattributes": "edit working-tree-encoding=UTF-16LE\n"},
			want:   map[string]string{"edit": "2\n"}, // one character, of three bytes in the commit
		},
		"sparse": {
			after: []string{"sparse-checkout set --no-cone /keep /edit"},
			want:  map[string]string{"edit": "2\n", "new/file": ""},
		},
		"sparse cone": {
			after: []string{"sparse-checkout set --cone was"},
			want:  map[string]string{"edit": "2\n", "new/file": "", "was/dir": "d\n"},
		},
		"sparse index": {
			after: []string{"sparse-checkout set --cone --sparse-index was"},
			want:  map[string]string{"edit": "2\n", "new/file": "", "was/dir": "d\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[string]string{}
			for _, m := range []map[string]string{before, c.before} {
				for k, v := range m {
					all[k] = v
				}
			}
			l := landWith(t, c.set, all, change)
			for _, line := range c.after {
				plain(t, l.Top, strings.Fields(line)...)
			}
			l.clean(t)
			s := l.ready(t)
			if err := s.finish(t); err != nil {
				t.Fatal(err)
			}
			l.clean(t)
			if got := plain(t, l.Top, "write-tree"); got != plain(t, l.Top, "rev-parse", "HEAD^{tree}") {
				t.Errorf("the index is the tree %s", got)
			}
			for name, want := range c.want {
				b, err := os.ReadFile(l.path(name))
				if string(b) != want || (want == "") != os.IsNotExist(err) {
					t.Errorf("%s is %q, %v; want %q", name, b, err, want)
				}
			}
			l.tidy(t)
		})
	}
}

// Modes and links are what the commit says; the system decides the rest of a mode.
func TestModes(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	plain(t, l.Top, "checkout", "-q", "-b", "side")
	if err := os.Chmod(l.path("keep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Remove(l.path("edit")), os.Symlink("keep", l.path("edit")), os.Symlink("nowhere/at/all", l.path("dangling"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	enter(t, l.Top, map[string]string{"script": "#!/bin/sh\n"})
	plain(t, l.Top, "update-index", "--chmod=+x", "script")
	plain(t, l.Top, "commit", "-q", "--amend", "--no-edit")
	l.new = oid(t, l.Top, "HEAD")
	plain(t, l.Top, "checkout", "-q", "-f", "main")
	for range 2 { // there, and back
		if err := l.ready(t).finish(t); err != nil {
			t.Fatal(err)
		}
		l.clean(t)
		l.old, l.new = l.new, l.old
	}
	if fi, err := os.Lstat(l.path("keep")); err != nil || fi.Mode() != 0o644 {
		t.Errorf("keep: %v, %v", fi.Mode(), err)
	}
}

// Where case does not matter, a file that is renamed to its name in another case is there
// under both names. A hard link stands in for that: the new name is not taken for placed,
// and once the old one is gone, as there with both names, the file is written.
func TestRenamedInCaseOnly(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"same content": "1\n", "other content": "2\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := land(t, map[string]string{"dir/a": "1\n", "dir/b": "1\n"}, map[string]string{"dir/a": "", "dir/A": content})
			if err := os.Link(l.path("dir/a"), l.path("dir/A")); err != nil {
				t.Fatal(err)
			}
			s := l.ready(t)
			for _, it := range s.items {
				if it.done || it.why != "" {
					t.Errorf("%s is done: %v, left: %q", it.delta.Path, it.done, it.why)
				}
			}
			if err := os.Remove(l.path("dir/A")); err != nil { // the name goes with the file
				t.Fatal(err)
			}
			if err := s.finish(t); err != nil {
				t.Fatal(err)
			}
			if got := read(t, l.path("dir/A")); got != content {
				t.Errorf("it is %q", got)
			}
			l.clean(t)
			l.tidy(t)
		})
	}
}
