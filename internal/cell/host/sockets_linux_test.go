package host

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A socket is where it lies, whatever name was used for it: a name that leads through a link
// cannot be covered.
func TestSocketsBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "link", "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list, err := sockets()
	if err != nil || !slices.Contains(list, filepath.Join(dir, "real", "sock")) || slices.Contains(list, filepath.Join(dir, "link", "sock")) {
		t.Errorf("%v, %v", list, err)
	}
}
