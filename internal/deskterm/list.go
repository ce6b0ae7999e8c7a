package deskterm

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// item is a row of the desk that can be chosen: a worker, or a stage of a plan that needs a person.
type item struct {
	group  string
	worker *view.Worker
	stage  *view.Attention
}

func (i item) key() string {
	if i.stage != nil {
		return "stage " + i.stage.Plan + " " + i.stage.Stage
	}
	return "worker " + i.worker.ID
}

// name is that of the worker; empty: there is none.
func (i item) name() string {
	if i.stage != nil {
		return i.stage.Worker
	}
	return i.worker.ID
}

// cells are the columns of a row: sign, name, state, reason, since when.
func (i item) cells() (g desk.Glyph, name, state, why string, since time.Time) {
	if i.stage != nil {
		return desk.GlyphOf("needs"), i.stage.Plan + "/" + i.stage.Stage, i.stage.Need, i.stage.Why, i.stage.Since
	}
	state = desk.State(*i.worker)
	return desk.GlyphOf(state), i.worker.ID, state, desk.Why(*i.worker), i.worker.Since
}

// groups are the parts of the desk in their order.
var groups = []struct{ name, title string }{
	{view.NeedsYou, "NEEDS YOU"}, {view.AtWork, "RUNNING"}, {view.Landed, "LANDED TODAY"}, {view.Over, "OVER"},
}

// items are the rows that pass the filter.
func (m *Model) items() (list []item) {
	if m.desk == nil {
		return nil
	}
	for _, g := range groups {
		if g.name == view.NeedsYou {
			for _, s := range m.desk.loose() {
				list = append(list, item{group: g.name, stage: &s})
			}
		}
		workers := m.desk.of(g.name)
		for i := range workers {
			if m.shows(&workers[i]) {
				list = append(list, item{group: g.name, worker: &workers[i]})
			}
		}
	}
	if m.filter == "" {
		return list
	}
	low := strings.ToLower(m.filter)
	kept := list[:0]
	for _, i := range list {
		_, name, state, why, _ := i.cells()
		if has(name+" "+state+" "+why, low) || i.worker != nil && has(i.worker.Title, low) {
			kept = append(kept, i)
		}
	}
	return kept
}

// shows leaves out those that ended on earlier days, unless all are asked for.
func (m *Model) shows(w *view.Worker) bool {
	switch w.Group {
	case view.Landed:
		return m.all || m.clock().Sub(w.Since) < 24*time.Hour
	case view.Over:
		return m.all
	}
	return true
}

// heading is the title of a group with the number of its rows.
func (m *Model) heading(group string, n int) line {
	for _, g := range groups {
		if g.name == group {
			title := g.title
			if group == view.Landed && m.all {
				title = "LANDED"
			}
			return join(clean(in(inkHead), " "+title+" "), clean(in(inkDim), fmt.Sprintf("%d", n)))
		}
	}
	return nil
}

// entry is a line of the list: a row, which is drawn only while it is in sight, or a text between rows.
type entry struct {
	text line
	row  int // of which item; -1: of none
}

// listed are the lines of the list, and which of them is chosen.
func (m *Model) listed(items []item, at int) (list []entry, chosen int) {
	count := map[string]int{}
	for _, i := range items {
		count[i.group]++
	}
	group := ""
	for n, i := range items {
		if i.group != group {
			if group != "" && m.height >= roomy {
				list = append(list, entry{nil, -1})
			}
			group = i.group
			list = append(list, entry{m.heading(group, count[group]), -1})
		}
		if n == at && m.cursor != "" {
			chosen = len(list)
		}
		list = append(list, entry{nil, n})
	}
	if len(items) == 0 {
		list = append(list, entry{clean(in(inkDim), " "+m.empty()), -1})
	}
	return list, chosen
}

// roomy is from how many rows on there are empty lines between groups.
const roomy = 36

// empty says why there is no row.
func (m *Model) empty() string {
	switch {
	case m.desk == nil && m.failure == nil:
		return "reading …"
	case m.filter != "":
		return "nothing has “" + m.filter + "” in it; esc shows all"
	case m.desk != nil && len(m.desk.Workers) > 0:
		return "No worker needs you, and none runs. A shows those of earlier days."
	}
	return "There are no workers: cordon run starts one."
}

// leastWhy is how much of a row the reason keeps, and besideName how much all but the name and the reason take.
const (
	leastWhy   = 16
	besideName = 24
)

// nameColumn is how wide the names of the rows in sight are: as wide as the longest one, as far as that fits.
func nameColumn(items []item, inSight []entry, width int) int {
	column := min(24, max(16, width/5))
	for _, e := range inSight {
		if e.row < 0 {
			continue
		}
		_, name, _, _, _ := items[e.row].cells()
		column = max(column, min(words(look{}, name).width(), width-besideName-leastWhy))
	}
	return column
}

// rowOf is one row: sign, name, state, reason and age.
func (m *Model) rowOf(i item, chosen bool, nameWidth, width int) line {
	g, name, state, why, since := i.cells()
	l := look{}
	bar := "  "
	if chosen {
		l.ground = groundChosen
		bar = "▌ "
	}
	age := clean(l.with(inkDim), fmt.Sprintf("%5s ", ago(m.clock(), since)))
	nameInk := inkText
	if chosen {
		nameInk = inkStrong
	}
	out := join(clean(l.with(inkAccent), bar), clean(l.with(inkOf(g.Class)), g.Sign+" "), words(l.with(nameInk), name).fit(nameWidth, l), blank(l, 1),
		words(l.with(inkOf(g.Class)), state).fit(12, l), blank(l, 1))
	room := width - out.width() - age.width()
	return join(out, words(l.with(inkText), why).fit(max(room, 0), l), age).fit(width, l)
}
