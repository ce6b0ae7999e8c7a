package main

import (
	"path/filepath"
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

// placed puts a real client into the home of the site, where a cell shows it, and is the
// directory of its program.
func (s *site) placed(program string) string {
	s.t.Helper()
	bin, err := testmodel.Place(program, filepath.Join(s.home, "clients"))
	if err != nil {
		s.t.Fatalf("the real client is not here: %v", err)
	}
	return bin
}
