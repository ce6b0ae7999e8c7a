package screens

import (
	"fmt"
	"slices"

	"cordon/internal/view"
)

// Graph is a plan drawn from left to right: each stage stands right of all that it waits for.
type Graph struct {
	Width, Height int
	Nodes         []Node
	Edges         []Edge
}

// Node is a stage in the drawing.
type Node struct {
	Stage    view.StageNow
	X, Y     int
	Critical bool
	Label    string
}

// Edge is a line from a stage to one that waits for it.
type Edge struct {
	Path     string
	Critical bool
}

// The measures of the drawing.
const (
	nodeWidth, nodeHeight = 168, 44
	gapWidth, gapHeight   = 56, 18
	margin                = 8
	labelRunes            = 18
)

// Draw lays out a plan.
func Draw(p view.Plan) Graph {
	column, rows, at := map[string]int{}, map[int]int{}, map[string]Node{}
	var g Graph
	for _, s := range p.Stages { // in an order in which they could run: what it waits for comes first
		for _, before := range s.After {
			if c, ok := column[before]; ok {
				column[s.ID] = max(column[s.ID], c+1)
			}
		}
		c := column[s.ID]
		column[s.ID] = c
		n := Node{Stage: s, X: margin + c*(nodeWidth+gapWidth), Y: margin + rows[c]*(nodeHeight+gapHeight), Critical: slices.Contains(p.Critical, s.ID)}
		n.Label = s.ID
		if r := []rune(s.ID); len(r) > labelRunes {
			n.Label = string(r[:labelRunes-1]) + "…"
		}
		rows[c]++
		at[s.ID] = n
		g.Nodes = append(g.Nodes, n)
		g.Width, g.Height = max(g.Width, n.X+nodeWidth+margin), max(g.Height, n.Y+nodeHeight+margin)
		for _, before := range s.After {
			if from, ok := at[before]; ok {
				g.Edges = append(g.Edges, edge(from, n, follows(p.Critical, before, s.ID)))
			}
		}
	}
	return g
}

func edge(from, to Node, critical bool) Edge {
	x, y, u, v := from.X+nodeWidth, from.Y+nodeHeight/2, to.X, to.Y+nodeHeight/2
	bend := (u - x) / 2
	return Edge{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y, x+bend, y, u-bend, v, u, v), critical}
}

// follows reports whether one stage comes right after another in a chain.
func follows(chain []string, a, b string) bool {
	i := slices.Index(chain, a)
	return i >= 0 && i+1 < len(chain) && chain[i+1] == b
}
