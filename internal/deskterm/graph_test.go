package deskterm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cordon/internal/view"
)

// stages makes a plan of lines such as "c: a b".
func stages(critical string, lines ...string) view.Plan {
	p := view.Plan{Critical: strings.Fields(critical)}
	for _, l := range lines {
		name, after, _ := strings.Cut(l, ":")
		p.Stages = append(p.Stages, view.StageNow{ID: name, State: "done", After: strings.Fields(after)})
	}
	return p
}

func pictureOf(g graph) string {
	var text strings.Builder
	for _, l := range g.lines {
		text.WriteString("\n" + strings.TrimRight(l.text(), " "))
	}
	return text.String()
}

func TestGraph(t *testing.T) {
	for _, c := range []struct {
		plan view.Plan
		want string
	}{
		{stages("a", "a"), `
  ✓ a`},
		{stages("a b", "a", "x", "b: a"), `
  ✓ a ━━━ ✓ b
  ✓ x`},
		{stages("schema web e2e tag", "schema", "api: schema", "cli: schema", "web: schema", "docs: api cli", "e2e: web", "tag: e2e"), `
  ✓ schema ━┱─ ✓ api ─┬─ ✓ docs
            ┠─ ✓ cli ─┘
            ┗━ ✓ web ━━━ ✓ e2e ━━━━ ✓ tag`},
		{stages("a d", "a", "b: a", "c: b", "d: a c"), `
  ✓ a ━┱─ ✓ b ─── ✓ c ─┲━ ✓ d
       ┗━━━━━━━━━━━━━━━┛`},
	} {
		if g, ok := graphOf(c.plan, -1); !ok || pictureOf(g) != c.want {
			t.Errorf("%v%s", ok, pictureOf(g))
		}
	}
}

// Whoever follows the lines of a drawing to the right comes to the stages that wait, and to no others.
func TestGraphIsTrue(t *testing.T) {
	drawn := 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 17))
		var p view.Plan
		for i := range 2 + random.IntN(9) {
			s := view.StageNow{ID: fmt.Sprintf("s%d", i), State: "done"}
			for before := range i {
				if random.IntN(4) == 0 {
					s.After = append(s.After, fmt.Sprintf("s%d", before))
				}
			}
			p.Stages = append(p.Stages, s)
		}
		g, ok := graphOf(p, -1)
		if !ok {
			continue
		}
		drawn++
		for i, s := range p.Stages {
			var want []int
			for j, o := range p.Stages {
				if slices.Contains(o.After, s.ID) {
					want = append(want, j)
				}
			}
			if got := reached(g, i); !slices.Equal(got, want) {
				t.Fatalf("seed %d: from %s one comes to %v, not to %v%s", seed, s.ID, got, want, pictureOf(g))
			}
		}
	}
	if drawn < 300 {
		t.Errorf("only %d of 400 plans were drawn", drawn)
	}
}

// reached are the stages at the ends of the lines that begin right of a stage. Nobody turns back.
func reached(g graph, stage int) (list []int) {
	grid := make([][]string, len(g.lines))
	for y, l := range g.lines {
		for _, c := range l {
			grid[y] = append(grid[y], c.text)
		}
	}
	begin := g.nodes[stage]
	type step struct{ x, y, dx, dy int }
	seen := map[step]bool{}
	var walk func(step)
	walk = func(s step) {
		if s.y < 0 || s.y >= len(grid) || s.x >= len(grid[s.y]) || seen[s] {
			return
		}
		seen[s] = true
		if grid[s.y][s.x] == "▸" {
			walk(step{s.x + 1, s.y, 1, 0})
			if s.dy != 0 {
				walk(step{s.x, s.y + s.dy, 0, s.dy})
			}
			return
		}
		arms := slices.Index(boxes, []rune(grid[s.y][s.x])[0])
		up, right, down, left := arms%3, arms/3%3, arms/9%3, arms/27
		switch {
		case s.dy < 0 && down == 0 || s.dy > 0 && up == 0: // no upright goes on here
			return
		case arms <= 0:
		case s.dx == 1 && left == 0: // it passes behind
			walk(step{s.x + 1, s.y, 1, 0})
			return
		default:
			if right > 0 {
				walk(step{s.x + 1, s.y, 1, 0})
			}
			if up > 0 && s.dy <= 0 {
				walk(step{s.x, s.y - 1, 0, -1})
			}
			if down > 0 && s.dy >= 0 {
				walk(step{s.x, s.y + 1, 0, 1})
			}
			return
		}
		if i := slices.IndexFunc(g.nodes, func(n node) bool { return n.y == s.y && n.x == s.x }); i >= 0 && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	walk(step{begin.x + 1 + begin.width + 1, begin.y, 1, 0})
	slices.Sort(list)
	return list
}
