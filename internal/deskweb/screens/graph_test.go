package screens

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/view"
)

func TestDraw(t *testing.T) {
	p := view.Plan{Critical: []string{"schema", "web", "e2e"}, Stages: []view.StageNow{
		{ID: "schema"}, {ID: "api", After: []string{"schema"}}, {ID: "web", After: []string{"schema"}}, {ID: "e2e", After: []string{"web", "api", "gone"}},
	}}
	g := Draw(p)
	var got []string
	for _, n := range g.Nodes {
		got = append(got, fmt.Sprint(n.Stage.ID, " ", n.X, " ", n.Y, " ", n.Critical))
	}
	critical := 0
	for _, e := range g.Edges {
		if e.Critical {
			critical++
		}
	}
	want := "schema 8 8 true, api 232 8 false, web 232 70 true, e2e 456 8 true"
	if strings.Join(got, ", ") != want || len(g.Edges) != 4 || critical != 2 || g.Width != 632 || g.Height != 122 {
		t.Errorf("%v, %d edges, %d critical, %d × %d", got, len(g.Edges), critical, g.Width, g.Height)
	}
}
