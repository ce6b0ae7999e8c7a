package cellnet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/cell"
)

// A file of the machine's is covered where its links lead, and left alone where that
// is not the machine's.
func TestPlaceForNames(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"etc", "run/resolve", "home", "tree/sub", "over", "scratch"} {
		if err := os.MkdirAll(in(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"etc/plain", "run/resolve/stub", "home/mine", "tree/sub/mine", "over/mine", "scratch/mine"} {
		if err := os.WriteFile(in(f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"var-run": "run", "etc/relative": "../run/resolve/stub", "etc/absolute": in("run/resolve/stub"),
		"etc/twice": "relative", "etc/through": in("var-run/resolve/stub"), "etc/dangling": in("run/resolve/gone"),
		"etc/nowhere": in("gone/gone"), "etc/circle": "circle", "etc/home": in("home/mine"), "etc/tree": in("tree/sub/mine"),
		"etc/over": in("over/mine"), "etc/scratch": in("scratch/mine"), "etc/dir": in("run"), "etc/proc": "/proc/self/status",
	} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	o := cell.Order{
		Home: in("home"), Write: []string{in("tree")}, Scratch: []string{in("scratch")},
		Over: []cell.Over{{At: in("over")}},
	}
	for name, want := range map[string]string{
		"etc/plain": "etc/plain", "etc/relative": "run/resolve/stub", "etc/absolute": "run/resolve/stub",
		"etc/twice": "run/resolve/stub", "etc/through": "run/resolve/stub",
		"etc/dangling": "", "etc/nowhere": "", "etc/circle": "", "etc/absent": "", "etc/dir": "", "etc/proc": "",
		"etc/home": "", "etc/tree": "", "etc/over": "", "etc/scratch": "",
	} {
		at, ok := placeFor(in(name), o)
		if strings.HasPrefix(dir, "/tmp/") && want != "" { // a cell's /tmp is its own
			if ok {
				t.Errorf("%s: %s would be covered", name, at)
			}
			at, ok = followLinks(in(name)), true
		}
		if ok != (want != "") || ok && at != in(want) {
			t.Errorf("%s: %q %v, want %q", name, at, ok, want)
		}
	}
}

// The machine's file keeps everything but what it says about hosts.
func TestWithoutHosts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"hosts: files mdns4_minimal dns\n":   "",
		"passwd: files\nhosts: a\ngroup: x":  "passwd: files\ngroup: x\n",
		"  hosts :a\nhosts: b\n# hosts: c\n": "# hosts: c\n",
		"hostsx: a\nnetworks: files\n":       "hostsx: a\nnetworks: files\n",
		"hosts":                              "",
	} {
		if got := string(withoutHosts([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNameFiles(t *testing.T) {
	dir := t.TempDir()
	binds, err := nameFiles(filepath.Join(dir, "etc"), cell.Order{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range binds {
		fi, err := os.Stat(b.From)
		if err != nil || fi.Mode() != 0o444 || b.Write {
			t.Errorf("%+v: %v %v", b, fi.Mode(), err)
		}
	}
	if text := string(resolvConf()); !strings.Contains(text, "\nnameserver 198.18.0.1\n") || strings.Contains(text, "search") {
		t.Errorf("resolv.conf: %q", text)
	}
	if text := string(hostsFile()); !strings.HasPrefix(text, "127.0.0.1 localhost") || !strings.Contains(text, "\n::1 localhost") {
		t.Errorf("hosts: %q", text)
	}
	if text := string(nsswitchConf()); !strings.HasSuffix(text, "\nhosts: files dns\n") || strings.Count(text, "hosts:") != 1 {
		t.Errorf("nsswitch.conf: %q", text)
	}
}

// A file that a cell may have mounted is replaced, not changed, and not touched when
// it is right.
func TestWriteOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	inode := func() os.FileInfo {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi
	}
	for _, text := range []string{"a", "a", "b"} {
		before := error(nil)
		var was os.FileInfo
		if was, before = os.Stat(path); before == nil {
			defer func(f *os.File, _ error) { f.Close() }(os.Open(path)) // its number is not given to another
		}
		same := before == nil && text == "a"
		if err := writeOnce(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q: %q %v", text, b, err)
		}
		if before == nil && os.SameFile(was, inode()) != same {
			t.Errorf("%q: the same file: %v", text, !same)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestHostName(t *testing.T) {
	for name, want := range map[string]bool{"vm": true, "a-b.example": true, "": false, "a b": false, "a\nb": false, "#": false, "ä": false} {
		if hostName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
