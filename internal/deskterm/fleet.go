package deskterm

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
	"cordon/internal/view"
)

func (m *Model) loadFleet() tea.Cmd {
	return ask(m, "the fleet", m.source.Fleet, func(f *view.Fleet) tea.Msg { return fleetMsg{f} })
}

// noFleet says why there is no screen of a fleet.
func noFleet(m *Model) string {
	if m.desk == nil || !m.desk.Home {
		return "this repository is the home of no fleet: cordon fleet home makes it one"
	}
	return ""
}

// drawFleet draws the nodes, what is known of the chosen one, and why stages wait for a node.
func (m *Model) drawFleet(c *canvas, room int) {
	switch {
	case noFleet(m) != "":
		c.add(clean(in(inkDim), "  "+noFleet(m)))
		return
	case m.fleet == nil:
		c.add(clean(in(inkDim), "  asking cordon-fleet …"))
		return
	}
	f := m.fleet
	head := join(clean(in(inkOK), " ● the home runs"), words(in(inkDim), "  "+f.URL))
	if !f.Running {
		head = join(clean(in(inkHold), " ○ no home runs"), clean(in(inkDim), "  cordon fleet home starts it"))
	}
	c.add(join(head, clean(in(inkDim), "   "+counted(len(f.Nodes), "node"))).clip(m.width), nil)
	waiting := m.waiting(max(3, room/3))
	if len(f.Nodes) == 0 {
		c.add(clean(in(inkDim), "  No machine has joined: cordon fleet join prints the line to paste there."))
		c.add(waiting...)
		return
	}
	m.nodeAt = max(0, min(m.nodeAt, len(f.Nodes)-1))
	detail := append(m.node(f.Nodes[m.nodeAt]), waiting...)
	left := max(3, room-2-len(detail))
	top := scrolled(0, m.nodeAt, len(f.Nodes), left)
	for i := top; i < len(f.Nodes) && i-top < left; i++ {
		c.click(0, m.width, func() tea.Cmd { m.nodeAt = i; return nil })
		c.add(m.nodeRow(f.Nodes[i], i == m.nodeAt))
	}
	c.add(detail...)
}

// nodeRow is one node: sign, name, state, what it has, and when it was heard.
func (m *Model) nodeRow(n view.FleetNode, chosen bool) line {
	l, bar := look{}, "  "
	if chosen {
		l.ground, bar = groundChosen, "▌ "
	}
	g := desk.GlyphOf(n.State)
	heard := "never heard"
	if n.Heard != nil {
		heard = "heard " + ago(m.clock(), *n.Heard) + " ago"
	}
	state := l.with(inkOf(g.Class))
	return join(clean(l.with(inkAccent), bar), clean(state, g.Sign+" "), words(l, n.Name).fit(24, l), words(state, " "+n.State).fit(12, l),
		clean(l, counted(len(n.Holds), "stage")).fit(12, l), clean(l.with(inkDim), heard)).fit(m.width, l)
}

// node says everything about the chosen node.
func (m *Model) node(n view.FleetNode) (lines []line) {
	d := &document{width: m.width}
	d.say(m.rule(n.Name))
	say := func(name, text string) {
		if text != "" {
			d.wrapped(14, clean(in(inkHead), " "+name), words(look{}, text))
		}
	}
	say("has", strings.Join(n.Holds, ", "))
	say("results", fmt.Sprintf("%d taken, %d refused", n.Returned, n.Refused))
	say("joined", n.Joined.Local().Format("2006-01-02 15:04:05"))
	say("version", n.Program)
	say("key", n.Key)
	say("next", n.Next)
	return d.lines()
}

// waiting are the stages that no node has, each with the reason, in about so many rows.
func (m *Model) waiting(most int) []line {
	list := m.fleet.Waiting
	if len(list) == 0 {
		return nil
	}
	d := &document{width: m.width}
	d.say(m.rule(counted(len(list), "stage") + " waiting for a node"))
	for i, w := range list {
		if len(d.rows) >= most {
			d.say(clean(in(inkDim), fmt.Sprintf(" and %d more: cordon fleet ls lists all", len(list)-i)))
			break
		}
		d.few(2, 20, words(in(inkHead), " "+w.Worker), words(look{}, w.Why))
	}
	return d.lines()
}
