package ledger

import (
	"testing"

	"cordon/internal/cell"
)

// A layer outlives the launch that made it, and a launch of an older cordon names
// none.
func TestPrivateLayersOfEveryLaunch(t *testing.T) {
	b := (&book{t: t}).leased("able-fox").add("able-fox", Prepared, Tree{})
	b.add("able-fox", Started, map[string]any{"command": []string{"true"}, "baseline": "x", "layers": cell.Every()})
	w, err := b.fold().Find("able-fox")
	if err != nil || len(w.Private) != 0 {
		t.Fatalf("%v, %v", w.Private, err)
	}
	launch := func(list ...cell.PrivateLayer) {
		b.add("able-fox", Started, Start{Command: []string{"true"}, Cell: Cell{Layers: cell.Every(), Private: list}})
	}
	launch(cell.PrivateLayer{Name: "home", At: "/old"}, cell.PrivateLayer{Name: "at-mnt", At: "/mnt"})
	launch(cell.PrivateLayer{Name: "home", At: "/new"})
	w, err = b.fold().Find("able-fox")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, l := range w.Private {
		got[l.Name] = l.At
	}
	if len(w.Private) != 2 || got["home"] != "/new" || got["at-mnt"] != "/mnt" {
		t.Errorf("%+v", w.Private)
	}
}
