package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/ledger"
)

// Of the names that are hidden in a home only those are recorded that an audit
// asks for. What is hidden elsewhere always is.
func TestWorthRecording(t *testing.T) {
	given := []cell.PrivateLayer{
		{Name: "home", At: "/home/me", For: cell.HomeLayer, Hidden: []string{".ssh", ".cache/keys", ".config/git/credentials", ".mozilla"}, Made: []string{"src/tree"}},
		{Name: "home-3", At: "/home/me/.config", For: cell.HomeLayer, Hidden: []string{"gh", "chromium"}},
		{Name: "at-usr", At: "/usr", For: cell.OutsideLayer, Hidden: []string{"secret"}, Made: []string{"mount"}},
	}
	got := RecordedLayers(given)
	for i, want := range [][]string{{".ssh", ".config/git/credentials"}, {"gh"}, {"secret"}} {
		if !reflect.DeepEqual(got[i].Hidden, want) {
			t.Errorf("%s: %q", got[i].Name, got[i].Hidden)
		}
	}
	if len(got[0].Made) != 0 || len(got[2].Made) != 1 || len(given[0].Hidden) != 4 {
		t.Errorf("%+v", got)
	}
}

// launched is a worker whose last cell had these layers.
func launched(layers []cell.Layer, private ...cell.PrivateLayer) *ledger.Worker {
	start := &ledger.Start{Cell: ledger.Cell{Layers: layers, Private: private}}
	return &ledger.Worker{ID: "able-fox", Start: start, Private: private}
}

// A layer that holds something and that no launch names is not passed over.
func TestUnnamedLayers(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"home/upper/.cache", "at-usr/upper/x", "at-gone/upper", "tmp/x", "scratch-0/upper/x"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home := cell.PrivateLayer{Name: "home", At: "/home/me", For: cell.HomeLayer, Overlay: true}
	for name, row := range map[string]struct {
		worker *ledger.Worker
		want   string
	}{
		"named in part": {launched(cell.Every(), home), "violation layer at-usr"},
		"older":         {launched(cell.Every()), "note layer at-usr, note layer home"},
		"no view":       {launched([]cell.Layer{cell.Landlock}), ""}, // the worker writes there itself
	} {
		found, err := unnamedLayers(dir, row.worker)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprintf("%s %s", f.Class, f.Source))
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := unnamedLayers(dir+"/gone", launched(cell.Every(), home)); err == nil {
		t.Error("layers that are gone were taken for none")
	}
	if found, err := unnamedLayers(dir+"/gone", launched(cell.Every())); err != nil || found != nil {
		t.Errorf("a launch without layers: %v, %v", found, err)
	}
}

func TestRefusals(t *testing.T) {
	if refusals(nil) != nil || refusals(&cell.Exit{}) != nil {
		t.Error("nothing was refused")
	}
	found := refusals(&cell.Exit{Refused: map[string]int{"ptrace": 1, "mount": 3, "io_uring_setup": 2}})
	if len(found) != 2 || found[0].Rule != "refused at run time: mount ×3" || found[0].Class != audit.Note || found[0].Source == "" {
		t.Errorf("%+v", found)
	}
}

func TestOutsideWord(t *testing.T) {
	for word, layers := range map[string][]cell.Layer{
		"unconfined, so what lies outside the repository was not watched":     nil,
		"no view of its own, so what lies outside the repository was not":     {cell.Landlock, cell.Seccomp},
		"without the overlay, what it tried outside the repository was not":   {cell.Namespaces, cell.Landlock},
		"the host could not be written; the worker's home was a private copy": cell.Every(),
	} {
		if got := outsideWord(launched(layers)); !strings.Contains(got, word) {
			t.Errorf("%v: %s", layers, got)
		}
	}
}
