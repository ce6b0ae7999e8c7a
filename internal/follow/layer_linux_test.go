package follow

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
)

// layered is a layer over a directory.
type layered struct {
	t *testing.T
	Layer
}

func newLayered(t *testing.T) *layered {
	t.Helper()
	top := t.TempDir()
	l := &layered{t, Layer{
		Upper: filepath.Join(top, "upper"), Into: filepath.Join(top, "into"), Aside: filepath.Join(top, "aside"), Spare: filepath.Join(top, "spare"),
		Refuse: func(c Change) string {
			return strings.Repeat("refused", strings.Count(filepath.Base(c.Path), "refused"))
		},
		Repository: func(*os.File) string { return "armed" },
		Obeyed:     func(string) string { return "" },
	}}
	for _, dir := range []string{l.Upper, l.Into} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// put makes entries below a directory: a name that ends with a slash is a directory, "!name" a sign of removal, "=name/" an
// opaque directory, "name>to" a link.
func (l *layered) put(dir string, names ...string) {
	l.t.Helper()
	for _, n := range names {
		name, to, link := strings.Cut(strings.Trim(n, "!="), ">")
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch {
		case err != nil:
		case n[0] == '!':
			err = unix.Mknod(at, unix.S_IFCHR, 0)
		case link:
			err = os.Symlink(to, at)
		case !strings.HasSuffix(n, "/"):
			err = os.WriteFile(at, []byte(filepath.Base(dir)), 0o644)
		default:
			err = os.MkdirAll(at, 0o755)
			if d, oerr := os.Open(at); err == nil && oerr == nil && n[0] == '=' {
				err = overlay.MakeOpaque(int(d.Fd()))
				d.Close()
			}
		}
		if err != nil {
			l.t.Fatalf("%s: %v", n, err)
		}
	}
}

// begin notes that the command begins now.
func (l *layered) begin() {
	l.t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(l.Into, &st); err != nil {
		l.t.Fatal(err)
	}
	for _, e := range l.entries(l.Into) {
		var below unix.Stat_t
		if unix.Lstat(filepath.Join(l.Into, e), &below) == nil && unix.TimespecToNsec(below.Ctim) > unix.TimespecToNsec(st.Ctim) {
			st.Ctim = below.Ctim
		}
	}
	l.Since = st.Ctim
}

// entries lists what is below a directory, with what the files hold.
func (l *layered) entries(dir string) []string {
	l.t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, p); rel != "." {
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

func (l *layered) place() Placed {
	l.t.Helper()
	placed, err := l.Place()
	if err != nil {
		l.t.Fatal(err)
	}
	return placed
}

func (l *layered) want(want ...string) {
	l.t.Helper()
	if got := l.entries(l.Into); !slices.Equal(got, want) {
		l.t.Errorf("it holds %q, want %q", got, want)
	}
}

func TestPlaceLayer(t *testing.T) {
	for name, c := range map[string]struct{ into, upper, want, kept []string }{
		"new files and directories": {[]string{"a", "d/"}, []string{"b", "d/c", "e/f/g", "l>a"}, []string{"a", "b", "d", "d/c", "e", "e/f", "e/f/g", "l"}, nil},
		"what was removed":          {[]string{"a", "b", "d/e/f", "d/g"}, []string{"!a", "!d"}, []string{"b"}, nil},
		"a directory made again":    {[]string{"d/a", "d/b/c"}, []string{"=d/", "d/n"}, []string{"d", "d/n"}, nil},
		"refused in one made again": {[]string{"d/a", "d/b"}, []string{"=d/", "d/refused", "d/n"}, []string{"d", "d/n"}, []string{"d/refused"}},
		"a file for a directory":    {[]string{"d/a"}, []string{"d"}, []string{"d"}, nil},
		"a directory for a file":    {[]string{"d"}, []string{"=d/", "d/a"}, []string{"d", "d/a"}, nil},
		"a directory for a link":    {[]string{"x/y", "d>x"}, []string{"=d/", "d/y"}, []string{"d", "d/y", "x", "x/y"}, nil},
		"what is refused":           {[]string{"d/refused", "e/refused/x"}, []string{"refused", "d/refused", "!e"}, []string{"d", "d/refused", "e", "e/refused", "e/refused/x"}, []string{"d/refused", "e/refused", "refused"}},
		"below what is refused":     {nil, []string{"n/a", "n/m/refused/x", "n/m/o"}, []string{"n", "n/a", "n/m", "n/m/o"}, []string{"n/m/refused"}},
		"repositories":              {[]string{"b/objects/", "b/refs/"}, []string{"r/.git/config", "r/a", "n/HEAD", "n/commondir", "f/.git", "b/HEAD", "b/x"}, []string{"b", "b/objects", "b/refs", "b/x", "f", "r", "r/a"}, []string{"b/HEAD", "f/.git", "n", "r/.git"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLayered(t)
			l.put(l.Into, c.into...)
			l.begin()
			l.put(l.Upper, c.upper...)
			placed := l.place()
			l.want(c.want...)
			var kept []string
			for _, k := range placed.Kept {
				rel, _ := filepath.Rel(l.Into, k.Path)
				kept = append(kept, rel)
				if _, err := os.Lstat(k.At); k.At != "" && err != nil {
					t.Error(err)
				}
			}
			if slices.Sort(kept); !slices.Equal(kept, c.kept) {
				t.Errorf("kept %q, want %q", kept, c.kept)
			}
		})
	}
}

// A new directory is renamed as a whole, modes of what the command has locked stay, and nothing runs as somebody else.
func TestPlaceModes(t *testing.T) {
	l := newLayered(t)
	l.put(l.Into, "d/a", "script")
	l.begin()
	l.put(l.Upper, "new/a", "new/locked/b", "d/c", "script")
	modes := map[string]os.FileMode{"new/locked": 0, "new": 0o500, "d": 0o711, "script": os.ModeSetuid | 0o755}
	for _, name := range []string{"new/locked", "new", "d", "script"} {
		if err := os.Chmod(filepath.Join(l.Upper, name), modes[name]); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(filepath.Join(l.Upper, "new"))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(l.Upper, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	l.place()
	after, err := os.Stat(filepath.Join(l.Into, "new"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it was not renamed: %v", err)
	}
	modes["script"] = 0o755
	for _, name := range []string{"new", "new/locked", "d", "script"} {
		fi, err := os.Stat(filepath.Join(l.Into, name))
		if err != nil || fi.Mode()&(os.ModePerm|os.ModeSetuid) != modes[name] {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
		_ = os.Chmod(filepath.Join(l.Into, name), 0o755) // for the rest of this test
	}
	l.want("d", "d/a", "d/c", "new", "new/a", "new/locked", "new/locked/b", "script")
}

// What was interrupted is placed by repeating it, and nothing that is in its place is lost by that.
func TestPlaceAgain(t *testing.T) {
	l := newLayered(t)
	l.put(l.Into, "d/old", "gone/x")
	l.begin()
	l.put(l.Upper, "=d/", "d/a", "d/refused", "d/z", "!gone")
	stop := errors.New("stopped")
	l.Note = func(Kept) error { return stop }
	if _, err := l.Place(); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	l.Note = nil
	l.place()
	l.want("d", "d/a", "d/z")
	if empty, err := l.Empty(); err != nil || !empty {
		t.Errorf("%v, %v: %q", empty, err, l.entries(l.Upper))
	}
}

// What made way when cordon was killed is put back, with what was saved in it meanwhile; where something else lies by then, aside.
func TestPutBack(t *testing.T) {
	l := newLayered(t)
	l.put(l.Into, "big/old", "big/mine", "file", "other/")
	l.begin()
	p := &placement{Layer: l.Layer}
	for _, name := range []string{"big", "file"} { // killed in the middle of each removal
		at, err := placeOf(filepath.Join(l.Into, name))
		if err != nil {
			t.Fatal(err)
		}
		away, err := p.inSpare(name)
		if err == nil {
			err = moveNew(at, away)
		}
		if err != nil {
			t.Fatal(err)
		}
		at.in.close()
	}
	p.spare.release()
	l.put(l.Into, "file")
	kept, err := l.PutBack()
	if err != nil || len(kept) != 1 || kept[0].Path != filepath.Join(l.Into, "file") {
		t.Fatalf("%+v, %v", kept, err)
	}
	if got := read(t, kept[0].At) + read(t, filepath.Join(l.Into, "big/mine")); got != "intointo" {
		t.Errorf("%q", got)
	}
	if kept, err := l.PutBack(); err != nil || kept != nil || len(l.entries(l.Spare)) != 0 {
		t.Errorf("again: %+v, %v, %v", kept, err, l.entries(l.Spare))
	}
}
