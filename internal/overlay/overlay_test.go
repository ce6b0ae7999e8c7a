package overlay

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"errors"

	"golang.org/x/sys/unix"
)

// layer makes a directory of files: a name that ends with a slash is a directory,
// "!name" is a sign of removal, "=name/" is an opaque directory.
func layer(t *testing.T, names ...string) string {
	t.Helper()
	top := t.TempDir()
	for _, n := range names {
		at := filepath.Join(top, strings.Trim(n, "!="))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case n[0] == '!':
			err = unix.Mknod(at, unix.S_IFCHR, 0)
		case strings.HasSuffix(n, "/"):
			if err = os.MkdirAll(at, 0o755); err == nil && n[0] == '=' {
				d, oerr := os.Open(at)
				if err = oerr; err == nil {
					err = MakeOpaque(int(d.Fd()))
					d.Close()
				}
			}
		default:
			err = os.WriteFile(at, []byte(filepath.Base(top)), 0o644)
		}
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
	}
	return top
}

// seen lists every file and the layer that it is from.
func seen(t *testing.T, layers ...string) []string {
	t.Helper()
	d, err := Open(layers...)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var list []string
	var walk func(d *Dir, prefix string)
	walk = func(d *Dir, prefix string) {
		entries, err := d.Entries()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			at := prefix + e.Name
			if e.Kind() == unix.S_IFDIR {
				sub, err := e.Dir()
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, at+"/")
				walk(sub, at+"/")
				sub.Close()
				continue
			}
			f, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			from := slices.IndexFunc(layers, func(l string) bool { return filepath.Base(l) == string(text) })
			list = append(list, at+":"+string(rune('0'+from)))
		}
	}
	walk(d, "")
	return list
}

func TestLayersAreMergedAsTheKernelDoes(t *testing.T) {
	cases := []struct {
		name   string
		layers [][]string // topmost first
		want   []string
	}{
		{"one", [][]string{{"a", "d/b"}}, []string{"a:0", "d/", "d/b:0"}},
		{"topmost wins", [][]string{{"a"}, {"a", "b"}}, []string{"a:0", "b:1"}},
		{"removed", [][]string{{"!a"}, {"a", "b"}}, []string{"b:1"}},
		{"removed directory", [][]string{{"!d"}, {"d/x", "b"}}, []string{"b:1"}},
		{"merged", [][]string{{"d/x"}, {"d/y"}}, []string{"d/", "d/x:0", "d/y:1"}},
		{"opaque", [][]string{{"=d/", "d/x"}, {"d/y"}}, []string{"d/", "d/x:0"}},
		{"file over directory", [][]string{{"d"}, {"d/y"}}, []string{"d:0"}},
		{"directory over file", [][]string{{"d/x"}, {"d"}, {"d/z"}}, []string{"d/", "d/x:0"}},
		{"removed and made again", [][]string{{"d/x"}, {"!d"}, {"d/y"}}, []string{"d/", "d/x:0"}},
		{"opaque in the middle", [][]string{{"d/x"}, {"=d/", "d/m"}, {"d/y"}}, []string{"d/", "d/m:1", "d/x:0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var layers []string
			for i, names := range c.layers {
				l := layer(t, names...)
				// A base name of its own, by which the files tell where they are from.
				own := filepath.Join(filepath.Dir(l), "layer"+string(rune('0'+i)))
				if err := os.Rename(l, own); err != nil {
					t.Fatal(err)
				}
				rewrite(t, own)
				layers = append(layers, own)
			}
			if got := seen(t, layers...); !slices.Equal(got, c.want) {
				t.Errorf("seen %q, want %q", got, c.want)
			}
		})
	}
}

func rewrite(t *testing.T, top string) {
	t.Helper()
	err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return os.WriteFile(p, []byte(filepath.Base(top)), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoLinkIsFollowed(t *testing.T) {
	top, elsewhere := layer(t, "a"), layer(t, "secret")
	if err := os.Symlink(elsewhere, filepath.Join(top, "d")); err != nil {
		t.Fatal(err)
	}
	below := layer(t, "d/x")
	d, err := Open(top, below)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Sub("d"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a link was taken for a directory: %v", err)
	}
	e, err := d.Entry("d")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Open(); err == nil {
		t.Error("a link was opened")
	}
	if to, err := e.Readlink(); err != nil || to != elsewhere {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
