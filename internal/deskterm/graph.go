package deskterm

import (
	"cmp"
	"fmt"
	"slices"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// graph is a plan drawn from left to right: each stage stands right of all that it waits for. Where a line
// joins another, an arrow says in which direction; where two only cross, one passes behind. The critical path is heavy.
type graph struct {
	lines []line
	nodes []node // by the number of the stage
}

// node is where a stage stands.
type node struct{ x, y, width int }

func (g graph) width() (n int) {
	for _, l := range g.lines {
		n = max(n, l.width())
	}
	return n
}

// slot is a place in a column: a stage, or the line of one that a later column waits for.
type slot struct {
	stage     int
	column    int
	row       int
	passes    bool // it is a line
	critical  bool // and part of the critical path
	waits     []*slot
	followers []*slot
}

// wire are the lines from some slots to all of some slots of the next column. They share one upright.
type wire struct{ from, to []*slot }

// graphOf draws a plan. ok is false if its lines cannot be told apart; then a list says more.
func graphOf(p view.Plan, chosen int) (g graph, ok bool) {
	columns := columnsOf(p)
	giveRows(columns)
	sheet := &sheet{}
	g.nodes = make([]node, len(p.Stages))
	x := 1
	for _, column := range columns {
		width := 0
		for _, s := range column {
			if !s.passes {
				label := labelOf(p.Stages[s.stage])
				g.nodes[s.stage] = node{x, s.row, label.width()}
				width = max(width, label.width())
			}
		}
		for _, s := range column {
			if s.passes {
				sheet.across(s.row, x-1, x+width, weight(s.critical), none, 0)
			}
		}
		wires, ordered := wiresOf(column)
		if !ordered {
			return g, false
		}
		begin, uprights := x+width+1, 0
		for _, w := range wires {
			if !w.straight() {
				uprights++
			}
		}
		end := begin + 2*max(1, uprights)
		for i, w := range slices.Backward(wires) {
			upright := none
			if !w.straight() {
				upright = begin + 2*uprights - 1
				uprights--
			}
			for _, from := range w.from {
				if !from.passes {
					sheet.across(from.row, x+g.nodes[from.stage].width+1, begin-1, weight(from.onward(p)), none, 0)
				}
			}
			sheet.wire(p, w, begin, upright, end, i+1)
		}
		x = end + 2
	}
	g.lines = sheet.drawn(p, g.nodes, chosen)
	return g, true
}

// labelOf is a stage in the drawing.
func labelOf(s view.StageNow) line {
	const most = 18
	return join(clean(look{}, desk.GlyphOf(stageState(s.State)).Sign+" "), words(look{}, beginning(s.ID, most)).clip(most))
}

// columnsOf puts the stages into columns, and lines into those that an edge passes.
func columnsOf(p view.Plan) (columns [][]*slot) {
	depth, number := depths(p), map[string]*slot{}
	at := func(c int) *[]*slot {
		for len(columns) <= c {
			columns = append(columns, nil)
		}
		return &columns[c]
	}
	passing := map[[2]int]*slot{}
	for i, s := range p.Stages { // in an order in which they could run
		me := &slot{stage: i, column: depth[s.ID]}
		number[s.ID] = me
		*at(me.column) = append(*at(me.column), me)
		for _, before := range s.After {
			from := number[before]
			if from == nil {
				continue
			}
			critical := follows(p.Critical, before, s.ID)
			for c := from.column + 1; c < me.column; c++ {
				key := [2]int{number[before].stage, c}
				if passing[key] == nil {
					passing[key] = &slot{stage: number[before].stage, column: c, passes: true}
					*at(c) = append(*at(c), passing[key])
					connect(from, passing[key])
				}
				from = passing[key]
				from.critical = from.critical || critical
			}
			connect(from, me)
		}
	}
	return columns
}

func connect(from, to *slot) {
	from.followers, to.waits = append(from.followers, to), append(to.waits, from)
}

// follows reports whether one stage comes right after another in a chain.
func follows(chain []string, a, b string) bool {
	i := slices.Index(chain, a)
	return i >= 0 && i+1 < len(chain) && chain[i+1] == b
}

// giveRows gives every slot a row: beside what it waits for, and never right of something that it does not wait for.
func giveRows(columns [][]*slot) {
	for i, column := range columns {
		if i > 0 {
			slices.SortStableFunc(column, func(a, b *slot) int { return cmp.Compare(a.middle(), b.middle()) })
		}
		next := 0
		for _, s := range column {
			for s.row = max(next, s.middle()); i > 0 && s.strange(columns[i-1]); s.row++ {
			}
			next = s.row + 1
		}
	}
}

// middle is the row in the middle of what a slot waits for.
func (s *slot) middle() (sum int) {
	if len(s.waits) == 0 {
		return 0
	}
	for _, w := range s.waits {
		sum += w.row
	}
	return sum / len(s.waits)
}

// strange reports whether a slot stands right of one that it does not wait for and that has lines.
func (s *slot) strange(before []*slot) bool {
	return slices.ContainsFunc(before, func(b *slot) bool { return b.row == s.row && len(b.followers) > 0 && !slices.Contains(s.waits, b) })
}

// wiresOf are the wires to the right of a column in the order of their uprights: in a row, the wire that comes from
// the left is left of those that go on to the right. ok is false if there is no such order.
func wiresOf(column []*slot) (list []wire, ok bool) {
	for _, s := range column {
		i := slices.IndexFunc(list, func(w wire) bool { return sameSlots(w.to, s.followers) })
		switch {
		case len(s.followers) == 0:
		case i >= 0:
			list[i].from = append(list[i].from, s)
		default:
			list = append(list, wire{[]*slot{s}, s.followers})
		}
	}
	var sorted []wire
	for len(list) > 0 {
		i := slices.IndexFunc(list, func(w wire) bool {
			return !slices.ContainsFunc(list, func(o wire) bool { return len(o.to) > 0 && !sameSlots(o.to, w.to) && o.leads(w) })
		})
		if i < 0 {
			return nil, false
		}
		sorted = append(sorted, list[i])
		list = slices.Delete(list, i, i+1)
	}
	return sorted, true
}

// straight reports whether a wire needs no upright.
func (w wire) straight() bool {
	return len(w.from) == 1 && len(w.to) == 1 && w.from[0].row == w.to[0].row
}

// leads reports whether a wire comes from the left in a row in which the other one goes to the right.
func (w wire) leads(other wire) bool {
	return slices.ContainsFunc(w.from, func(a *slot) bool {
		return slices.ContainsFunc(other.to, func(b *slot) bool { return a.row == b.row })
	})
}

func sameSlots(a, b []*slot) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s *slot) bool { return !slices.Contains(b, s) })
}

// onward reports whether the critical path goes on to the right of a slot.
func (s *slot) onward(p view.Plan) bool {
	return slices.ContainsFunc(s.followers, func(to *slot) bool { return criticalTo(p, s, to) })
}

// criticalTo reports whether the line between two slots is part of the critical path.
func criticalTo(p view.Plan, from, to *slot) bool {
	if to.passes {
		return to.critical
	}
	return follows(p.Critical, p.Stages[from.stage].ID, p.Stages[to.stage].ID)
}

// The weights of lines.
const (
	light = 1
	heavy = 2
)

func weight(critical bool) int {
	if critical {
		return heavy
	}
	return light
}

// boxes are the characters of lines by the weights of their four arms: up, right, down and left, in base 3.
var boxes = []rune(" ╵╹╶└┖╺┕┗╷│╿┌├┞┍┝┡╻╽┃┎┟┠┏┢┣╴┘┚─┴┸╼┶┺┐┤┦┬┼╀┮┾╄┒┧┨┰╁╂┲╆╊╸┙┛╾┵┹━┷┻┑┥┩┭┽╃┯┿╇┓┪┫┱╅╉┳╈╋")

// joint is a character of a line.
type joint struct {
	up, right, down, left int
	owner                 int // the wire whose upright has an end or a branch here; 0: none has
	guest                 int // a wire that passes from the left; 0: none does
}

func (j joint) character() string {
	switch {
	case j.owner > 0 && j.guest > 0:
		return "▸" // the upright joins a line that comes from the left
	case j.owner == 0 && j.up > 0 && j.down > 0:
		j.left, j.right = 0, 0 // what crosses it passes behind
	}
	return string(boxes[j.up+3*j.right+9*j.down+27*j.left])
}

// sheet is what lines are drawn on.
type sheet struct{ rows [][]joint }

func (s *sheet) at(y, x int) *joint {
	for len(s.rows) <= y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[y]) <= x {
		s.rows[y] = append(s.rows[y], joint{})
	}
	return &s.rows[y][x]
}

// across draws a line of a wire from a column to another, both included. It ends in the wire's upright if that is one of them.
func (s *sheet) across(y, from, to, w, upright, id int) {
	for x := from; x <= to; x++ {
		j := s.at(y, x)
		if x > from || x != upright {
			j.left = max(j.left, w)
		}
		if x < to || x != upright {
			j.right = max(j.right, w)
		}
		if x == upright {
			j.owner = id
		} else {
			j.guest = id
		}
	}
}

// none is the upright of a line that has none.
const none = -1

// along draws an upright from a row to another.
func (s *sheet) along(x, from, to, w int) {
	for y := min(from, to); y <= max(from, to); y++ {
		j := s.at(y, x)
		if y > min(from, to) {
			j.up = max(j.up, w)
		}
		if y < max(from, to) {
			j.down = max(j.down, w)
		}
	}
}

// wire draws the lines between two columns: to the upright, along it, and on to the right.
func (s *sheet) wire(p view.Plan, w wire, begin, upright, end, id int) {
	for _, from := range w.from {
		for _, to := range w.to {
			heft := weight(criticalTo(p, from, to))
			if upright == none {
				s.across(from.row, begin, end, heft, none, id)
				continue
			}
			s.across(from.row, begin, upright, heft, upright, id)
			s.along(upright, from.row, to.row, heft)
			s.across(to.row, upright, end, heft, upright, id)
		}
	}
}

// drawn puts the stages between the lines.
func (s *sheet) drawn(p view.Plan, nodes []node, chosen int) (out []line) {
	for _, n := range nodes {
		s.at(n.y, n.x+n.width)
	}
	for y, row := range s.rows {
		l := blank(look{}, 1)
		for x := 0; x < len(row); x++ {
			i := slices.IndexFunc(nodes, func(n node) bool { return n.y == y && n.x-1 == x })
			if i < 0 {
				l = append(l, cell{row[x].character(), 1, in(row[x].ink())})
				continue
			}
			l = append(l, stageLabel(p, i, i == chosen)...)
			x += nodes[i].width
		}
		out = append(out, l)
	}
	return out
}

// ink is that of the critical path, or of the others.
func (j joint) ink() ink {
	if max(j.up, j.right, j.down, j.left) == heavy {
		return inkStrong
	}
	return inkRule
}

// stageLabel is a stage with the cursor before it.
func stageLabel(p view.Plan, i int, chosen bool) line {
	s, l, bar := p.Stages[i], look{}, " "
	if chosen {
		l.ground, bar = groundChosen, "▌"
	}
	out := join(clean(l.with(inkAccent), bar), labelOf(s))
	for n := range out[1:] {
		out[n+1].look = l
		switch {
		case n == 0:
			out[n+1].look = l.with(inkOf(desk.GlyphOf(stageState(s.State)).Class))
		case slices.Contains(p.Critical, s.ID):
			out[n+1].look = l.with(inkStrong)
		}
	}
	return out
}

// heldUp says what cannot go on before somebody has looked at a stage.
func heldUp(p view.Plan) (list []string) {
	for _, s := range p.Stages {
		if s.State == "needs" && s.Blocks > 0 {
			list = append(list, fmt.Sprintf("%s holds up %s", s.ID, counted(s.Blocks, "stage")))
		}
	}
	return list
}
