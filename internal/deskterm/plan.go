package deskterm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// planHead is the title of a plan.
func planHead(p view.Plan) line {
	return join(clean(in(inkHead), " PLAN "), words(in(inkStrong), p.Plan), clean(in(inkDim), fmt.Sprintf("  %d of %d stages  %s", p.Done, p.Total, p.State)))
}

// planned are the lines of a plan in a column: the graph if it fits, else the list, and who holds up others.
func planned(p view.Plan, width int, now time.Time) (out []line) {
	out = append(out, planHead(p).clip(width))
	if g, ok := graphOf(p, -1); ok && g.width() <= width {
		out = append(out, g.lines...)
	} else {
		out = append(out, listedStages(p, width, now, -1)...)
	}
	for _, text := range heldUp(p) {
		out = append(out, words(in(inkHold), "  "+text).clip(width))
	}
	return out
}

// listedStages are the stages of a plan as a list: each below what it waits for, indented by how many stages are
// before it.
func listedStages(p view.Plan, width int, now time.Time, chosen int) (out []line) {
	depth := depths(p)
	for i, s := range p.Stages {
		g := desk.GlyphOf(stageState(s.State))
		l := look{}
		bar := "  "
		if i == chosen {
			l.ground, bar = groundChosen, "▌ "
		}
		branch := ""
		if n := depth[s.ID]; n > 0 {
			branch = strings.Repeat("  ", n-1) + "└─"
		}
		nameInk := inkText
		if slices.Contains(p.Critical, s.ID) {
			nameInk = inkStrong
		}
		row := join(clean(l.with(inkAccent), bar), clean(l.with(inkRule), branch), clean(l.with(inkOf(g.Class)), g.Sign+" "), words(l.with(nameInk), s.ID),
			words(l.with(inkOf(g.Class)), "  "+s.State), words(l.with(inkDim), "  "+s.Worker))
		if !s.Since.IsZero() && s.Since.Year() > 1 {
			row = join(row, clean(l.with(inkDim), "  "+ago(now, s.Since)))
		}
		if s.Cost > 0 {
			row = join(row, clean(l.with(inkDim), fmt.Sprintf("  $%.2f", s.Cost)))
		}
		out = append(out, row.fit(width, l))
	}
	return out
}

// stageState is the word of a stage's state that has a sign.
func stageState(s string) string {
	if s == "waiting" {
		return "ready"
	}
	return s
}

// depths is how many stages are before each, one after the other.
func depths(p view.Plan) map[string]int {
	depth := map[string]int{}
	for _, s := range p.Stages { // in an order in which they could run
		for _, before := range s.After {
			depth[s.ID] = max(depth[s.ID], depth[before]+1)
		}
	}
	return depth
}

// plan is the plan on the screen; nil: there is none.
func (m *Model) plan() *view.Plan {
	if len(m.plans) == 0 {
		return nil
	}
	m.planAt = max(0, min(m.planAt, len(m.plans)-1))
	return &m.plans[m.planAt]
}

// moveStage goes to another stage, and beyond the last one to the next plan.
func (m *Model) moveStage(n int) {
	p := m.plan()
	if p == nil {
		return
	}
	to := m.stageAt + n
	switch {
	case n == 1 && to >= len(p.Stages) && m.planAt < len(m.plans)-1:
		m.planAt, m.stageAt = m.planAt+1, 0
	case n == -1 && to < 0 && m.planAt > 0:
		m.planAt--
		m.stageAt = len(m.plan().Stages) - 1
	default:
		m.stageAt = max(0, min(to, len(p.Stages)-1))
	}
}

// drawPlan draws a plan: the graph, the critical path, and what the chosen stage waits for and why.
func (m *Model) drawPlan(c *canvas, room int) {
	p := m.plan()
	if p == nil {
		c.add(clean(in(inkDim), "  There is no plan: cordon plan new begins one, cordon plan run FILE runs it."))
		return
	}
	m.stageAt = max(0, min(m.stageAt, len(p.Stages)-1))
	tokens, cost := used(*p)
	head := join(planHead(*p), clean(in(inkDim), fmt.Sprintf("   opened %s ago", ago(m.clock(), p.Opened))), spent(tokens, cost))
	if len(m.plans) > 1 {
		head = join(head, clean(in(inkDim), fmt.Sprintf("   plan %d of %d", m.planAt+1, len(m.plans))))
	}
	c.add(head.clip(m.width))
	c.add(join(clean(in(inkHead), " CRITICAL PATH  "), words(in(inkStrong), strings.Join(p.Path(m.clock()), " → "))).clip(m.width), nil)
	detail := m.stage(p)
	detail = detail[:min(len(detail), max(8, room/2))]
	left := max(4, room-3-len(detail))
	if g, ok := graphOf(*p, m.stageAt); ok && !m.asList {
		m.drawGraph(c, g, left)
	} else {
		m.drawStages(c, listedStages(*p, m.width, m.clock(), m.stageAt), left)
	}
	c.add(detail...)
}

// drawStages draws the list of the stages, as far as there is room.
func (m *Model) drawStages(c *canvas, lines []line, room int) {
	top := scrolled(0, m.stageAt, len(lines), room)
	for i := top; i < len(lines) && i-top < room; i++ {
		c.click(0, m.width, func() tea.Cmd { return m.clickStage(i) })
		c.add(lines[i])
	}
}

// drawGraph draws the part of the graph in which the chosen stage is.
func (m *Model) drawGraph(c *canvas, g graph, room int) {
	at := g.nodes[m.stageAt]
	top := scrolled(0, at.y, len(g.lines), room)
	aside := 0
	if end := at.x + at.width + 12; end > m.width {
		aside = min(end, g.width()+1) - m.width
	}
	for y := top; y < len(g.lines) && y-top < room; y++ {
		for i, n := range g.nodes {
			if n.y == y {
				c.click(n.x-aside, n.width+1, func() tea.Cmd { return m.clickStage(i) })
			}
		}
		c.add(g.lines[y].skip(aside).clip(m.width))
	}
}

// clickStage chooses a stage; the worker of the chosen one is opened.
func (m *Model) clickStage(i int) tea.Cmd {
	if m.stageAt != i {
		m.stageAt = i
		return nil
	}
	if why := noStageWorker(m); why != "" {
		m.note = why
		return nil
	}
	return m.openStage()
}

// noStageWorker says why there is no worker to look at.
func noStageWorker(m *Model) string {
	p := m.plan()
	if p == nil || m.stageAt >= len(p.Stages) {
		return "there is no plan"
	}
	if s := p.Stages[m.stageAt]; s.Worker == "" {
		return s.ID + " has no worker yet"
	}
	return ""
}

// openStage opens the review of the worker of the chosen stage.
func (m *Model) openStage() tea.Cmd {
	name := m.plan().Stages[m.stageAt].Worker
	m.place, m.cursor = onReview, item{worker: &view.Worker{ID: name}}.key()
	if name != m.wanted {
		return m.want(name)
	}
	return nil
}

// along goes to the first stage that the chosen one waits for, or to the first that waits for it.
func (m *Model) along(before bool) tea.Cmd {
	p := m.plan()
	if p == nil || m.stageAt >= len(p.Stages) {
		return nil
	}
	here := p.Stages[m.stageAt]
	for i, s := range p.Stages {
		if before && slices.Contains(here.After, s.ID) || !before && slices.Contains(s.After, here.ID) {
			m.stageAt = i
			return nil
		}
	}
	m.note = here.ID + " waits for no stage"
	if !before {
		m.note = "no stage waits for " + here.ID
	}
	return nil
}

// used is what the clients of a plan say they used.
func used(p view.Plan) (tokens int64, cost float64) {
	for _, s := range p.Stages {
		tokens += s.Tokens
		cost += s.Cost
	}
	return tokens, cost
}

func spent(tokens int64, cost float64) line {
	text := ""
	if cost > 0 {
		text += fmt.Sprintf("   $%.2f", cost)
	}
	if tokens > 0 {
		text += fmt.Sprintf("   %d tokens", tokens)
	}
	return clean(in(inkDim), text)
}

// stage says everything about the chosen stage.
func (m *Model) stage(p *view.Plan) []line {
	if len(p.Stages) == 0 {
		return nil
	}
	s := p.Stages[m.stageAt]
	d := &document{width: m.width}
	d.say(m.rule(s.ID))
	say := func(name, text string) {
		if text != "" {
			d.wrapped(14, clean(in(inkHead), " "+name), words(look{}, text))
		}
	}
	say("state", strings.TrimSpace(s.State+"  "+s.Need))
	if s.Since.Year() > 1 {
		say("since", ago(m.clock(), s.Since))
	}
	say("why", s.Why)
	say("waits for", strings.Join(s.After, ", "))
	if s.Blocks > 0 {
		say("holds up", counted(s.Blocks, "stage"))
	}
	say("worker", s.Worker)
	say("used", strings.TrimSpace(spent(s.Tokens, s.Cost).text()))
	for _, t := range s.Truths {
		answer := t.Answer
		if answer == "" {
			answer = "nobody has answered"
		}
		say("claim", fmt.Sprintf("%d. %s: %s %s", t.Number, t.Claim, answer, t.Who))
	}
	for _, o := range s.Reviews {
		say("review", o.Verdict+" by "+o.Who+" ("+o.By+"): "+o.Text)
	}
	say("next", s.Next)
	lines := []line{}
	for _, r := range d.rows {
		lines = append(lines, r.text)
	}
	return lines
}
