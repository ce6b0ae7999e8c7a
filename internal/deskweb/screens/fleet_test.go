package screens

import (
	"bytes"
	"strings"
	"testing"

	"cordon/internal/view"
)

// TestFleet: a node has the command that the model names, one that was removed has none, and stages that wait say why.
func TestFleet(t *testing.T) {
	var page bytes.Buffer
	err := Write(&page, Fleet{Fleet: view.Fleet{Running: true, Nodes: []view.FleetNode{
		{Name: "big-box", State: "ready", Next: "cordon fleet drain big-box"}, {Name: "lost-box", State: "removed"},
	}, Waiting: []view.FleetWaiting{{Worker: "solar-stork", Why: "no node can run it"}}}})
	if err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{">cordon fleet drain big-box<", "lost-box", `href="/worker/solar-stork"`, "no node can run it"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, `class="cmd"`); n != 1 {
		t.Errorf("%d commands", n)
	}
}
