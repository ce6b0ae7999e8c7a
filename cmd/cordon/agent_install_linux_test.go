package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/testmodel"
)

// What the tests run is what cordon says it was tested with.
func TestClientsArePinned(t *testing.T) {
	for _, name := range clients.Names() {
		a, err := clients.Of(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := testmodel.Packages[string(name)]; a.Tested.String() != want.Version || a.Package != want.Name {
			t.Errorf("%s was tested as %s %s, and the tests run %s %s", name, a.Package, a.Tested, want.Name, want.Version)
		}
	}
}

// installed is the directory with the programs of the real clients. Without them a
// test fails: what was not run with the real clients is not known.
func installed(t *testing.T) string {
	t.Helper()
	bin, err := testmodel.Install()
	if err != nil {
		t.Fatalf("the real clients are not here: %v", err)
	}
	return bin
}

// clients puts the real clients into the home of the site, where a cell shows them,
// and is the directory of their programs. What cannot be linked is not in the home of
// anybody that a cell hides: it is used where it is.
func (s *site) clients() string {
	s.t.Helper()
	bin := installed(s.t)
	from, to := filepath.Dir(filepath.Dir(bin)), filepath.Join(s.home, "clients")
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, 0o755)
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		}
		return os.Link(path, at)
	})
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) {
		return bin
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return filepath.Join(to, "node_modules", ".bin")
}
