package deskterm

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
)

// canvas is a screen and what a click on it does.
type canvas struct {
	lines []line
	hits  []hit
}

// hit is an area of the screen.
type hit struct {
	x, y, width int
	do          func() tea.Cmd
	drag        func() // the button is held over it; nil: nothing happens
}

func (c *canvas) add(lines ...line) { c.lines = append(c.lines, lines...) }

// click makes an area of the next line do something.
func (c *canvas) click(x, width int, do func() tea.Cmd) {
	c.hits = append(c.hits, hit{x: x, y: len(c.lines), width: width, do: do})
}

// The least that the desk needs.
const (
	leastWidth  = 72
	leastHeight = 18
	wideFrom    = 120 // from here on the preview is at the right, and both sides of a patch are
)

// draw draws the screen that the operator is on.
func (m *Model) draw() *canvas {
	c := &canvas{}
	if m.width < leastWidth || m.height < leastHeight {
		m.drawSmall(c)
		return c
	}
	m.drawTop(c)
	room := m.height - 4
	switch {
	case m.help != nil:
		m.drawHelp(c, room)
	case m.place == onReview:
		m.drawReview(c, room)
	case m.place == onPlan:
		m.drawPlan(c, room)
	case m.place == onJournal:
		m.drawJournal(c, room)
	case m.place == onFleet:
		m.drawFleet(c, room)
	default:
		m.drawDesk(c, room)
	}
	c.lines = c.lines[:min(len(c.lines), m.height-2)]
	for len(c.lines) < m.height-2 {
		c.add(nil)
	}
	if m.form != nil {
		m.drawForm(c)
	}
	c.add(m.rule(""))
	m.drawFoot(c)
	return c
}

// drawSmall says what the desk needs.
func (m *Model) drawSmall(c *canvas) {
	text := fmt.Sprintf("The desk needs %d columns and %d rows; this terminal has %d and %d. "+
		"Make it larger, or use cordon ui --plain. q closes the desk and stops nothing.", leastWidth, leastHeight, m.width, m.height)
	for _, l := range clean(look{}, text).wrap(m.width) {
		if len(c.lines) < m.height {
			c.add(l.clip(m.width))
		}
	}
}

// rule is a horizontal line, with a title in it.
func (m *Model) rule(title string) line { return ruled(title, m.width) }

func ruled(title string, width int) line {
	if title == "" {
		return clean(in(inkRule), strings.Repeat("─", width))
	}
	l := join(clean(in(inkRule), "─ "), words(in(inkStrong), title), clean(in(inkRule), " "))
	return append(l, clean(in(inkRule), strings.Repeat("─", max(0, width-l.width())))...)
}

// drawTop draws the two first lines: where this is, the screens, and who needs the operator.
func (m *Model) drawTop(c *canvas) {
	left := clean(in(inkStrong), " cordon ")
	if m.desk != nil {
		left = join(left, clean(look{}, " "), words(in(inkStrong), m.desk.Repository), words(in(inkDim), "  "+m.desk.Branch+" "+m.desk.Tip+" "))
	}
	right := join(m.counts(), clean(in(inkKey), "   ? "))
	tabs, places := 24, []place{onDesk, onPlan, onJournal}
	if m.desk != nil && m.desk.Home {
		tabs, places = 32, append(places, onFleet)
	}
	left = left.clip(m.width - right.width() - tabs)
	for _, p := range places {
		l := in(inkDim)
		if p == m.place || m.place == onReview && p == onDesk {
			l = look{inkAccent, groundChosen}
		}
		tab := clean(l, " "+strings.ToUpper(string(p[:1]))+string(p[1:])+" ")
		c.click(left.width()+1, tab.width(), func() tea.Cmd { return m.visit(p) })
		left = join(left, clean(look{}, " "), tab)
	}
	c.click(m.width-4, 4, func() tea.Cmd { m.help = &help{}; return nil })
	c.add(join(left.fit(m.width-right.width(), look{}), right), m.rule(""))
}

// counts is who needs the operator, in numbers.
func (m *Model) counts() line {
	if m.desk == nil {
		return nil
	}
	needs, runs, landed := m.desk.needs(), 0, 0
	for _, i := range m.items() {
		switch i.group {
		case "running":
			runs++
		case "landed":
			landed++
		}
	}
	i := inkDim
	if needs > 0 {
		i = inkHold
	}
	out := join(clean(in(i), needing(needs)), clean(in(inkDim), fmt.Sprintf(" · %d running", runs)))
	if !m.desk.Home || m.width >= 96 { // the tab of a fleet needs room
		out = join(out, clean(in(inkDim), fmt.Sprintf(" · %d landed", landed)))
	}
	if m.width >= wideFrom {
		out = join(out, clean(in(inkDim), " · "), m.soundness())
	}
	return out
}

// needing says how many need the operator.
func needing(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}

// soundness is whether the journal is intact.
func (m *Model) soundness() line {
	if m.desk.Journal.Sound {
		return clean(in(inkOK), "journal sound")
	}
	return clean(in(inkBad), "journal damaged")
}

// drawDesk draws the list and the preview: at its right where there is room, else below.
func (m *Model) drawDesk(c *canvas, room int) {
	if m.width >= wideFrom {
		width := min(m.width*2/5, 80)
		left := m.drawList(c, width, room, 0)
		m.aside(&left, width, room)
		right := m.preview(c, width+1, len(c.lines), room)
		for i := range room {
			sep := clean(in(inkRule), "│")
			c.add(join(at(left, i).fit(width, look{}), sep, at(right, i).fit(m.width-width-1, look{})))
		}
		return
	}
	m.listRoom = m.roomOfList(room)
	upper := m.drawList(c, m.width, m.listRoom, 0)
	c.add(upper...)
	title := m.wanted
	if items := m.items(); title == "" && len(items) > 0 {
		_, title, _, _, _ = items[m.at(items)].cells()
	}
	c.add(m.rule(title))
	c.add(m.preview(c, 0, len(c.lines), room-len(upper)-1)...)
}

// roomOfList is how many lines the list has above the preview: its share, and what the preview does not need.
// While a review is read, that does not change.
func (m *Model) roomOfList(room int) int {
	share := room*2/5 + 1
	if d := m.document(m.width); d != nil {
		return max(share, room-1-len(d.rows))
	}
	if m.wanted != "" && m.failure == nil {
		return max(share, min(m.listRoom, room-2))
	}
	return max(share, room-1-len(m.withoutReview(m.width)))
}

func at(list []line, i int) line {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// drawList are the lines of the list that fit, with the chosen one among them.
func (m *Model) drawList(c *canvas, width, room, x int) []line {
	items := m.items()
	at := m.at(items)
	lines, chosen := m.listed(items, at)
	m.listTop = scrolled(m.listTop, chosen, len(lines), room)
	names := nameColumn(items, lines[m.listTop:min(len(lines), m.listTop+room)], width)
	var out []line
	for i := m.listTop; i < len(lines) && len(out) < room; i++ {
		l := lines[i].text
		if n := lines[i].row; n >= 0 {
			l = m.rowOf(items[n], n == at, names, width)
			c.hits = append(c.hits, hit{x: x, y: len(c.lines) + len(out), width: width, do: func() tea.Cmd { return m.clickItem(n) }})
		}
		if left := len(lines) - i; len(out) == room-1 && left > 1 {
			l = join(clean(in(inkDim), fmt.Sprintf("   … %d more", left)))
		}
		out = append(out, l.fit(width, look{}))
	}
	return out
}

// scrolled is the first row in sight, so that one is seen with a row around it where there is one.
func scrolled(top, row, total, room int) int {
	if row < top+1 {
		top = row - 1
	}
	if row > top+room-2 {
		top = row - room + 2
	}
	return max(0, min(top, total-room))
}

// aside fills what is left below the list: plans, the machine and the newest events.
func (m *Model) aside(left *[]line, width, room int) {
	if m.desk == nil || len(*left)+6 > room {
		return
	}
	for _, p := range m.desk.Plans {
		if lines := planned(p, width-1, m.clock()); len(*left)+len(lines)+2 < room-5 {
			*left = append(*left, nil)
			*left = append(*left, lines...)
		}
	}
	if lines := machine(m.desk.Machine, width-1); len(*left)+len(lines)+1 < room-5 {
		*left = append(*left, nil)
		*left = append(*left, lines...)
	}
	if len(m.desk.Recent) == 0 || len(*left)+4 > room {
		return
	}
	*left = append(*left, nil, join(clean(in(inkHead), " JOURNAL "), clean(in(inkDim), fmt.Sprintf("%d  ", m.desk.Journal.Events)), m.soundness()))
	for _, e := range m.desk.Recent {
		if len(*left) >= room {
			return
		}
		*left = append(*left, join(clean(in(inkDim), e.Time.Local().Format("  15:04:05 ")), words(look{}, e.Worker).fit(18, look{}), words(in(inkDim), " "+e.Type)))
	}
}

// preview is the review of the chosen worker from a column and a line of the screen on, as far as there is room.
func (m *Model) preview(c *canvas, x, y, room int) []line {
	width := m.width - x
	d := m.document(width)
	if d == nil {
		return m.withoutReview(width)
	}
	var out []line
	if width != m.width {
		out = append(out, m.identity())
	}
	return append(out, m.window(c, d, x, y+len(out), room-len(out))...)
}

// withoutReview is shown where there is no worker: what a stage waits for, or why there is nothing.
func (m *Model) withoutReview(width int) (out []line) {
	items := m.items()
	if len(items) == 0 || items[m.at(items)].stage == nil || m.wanted != "" {
		return []line{words(in(inkDim), "  "+m.nothingToSee())}
	}
	s := items[m.at(items)].stage
	d := &document{width: width}
	d.wrapped(3, clean(in(inkHold), " ⊘"), words(in(inkStrong), "Stage "+s.Stage+" of plan "+s.Plan+" needs you: "+s.Why))
	d.wrapped(3, nil, words(in(inkDim), s.Next))
	d.wrapped(3, nil, join(clean(in(inkKey), "⏎"), clean(in(inkDim), " opens the plan")))
	for _, r := range d.rows {
		out = append(out, r.text)
	}
	return out
}

func (m *Model) nothingToSee() string {
	switch {
	case m.failure != nil:
		return m.failure.Error()
	case m.wanted == "":
		return ""
	}
	return "reading " + m.wanted + " …"
}

// identity is the worker that is shown, with what is known of it at a glance.
func (m *Model) identity() line {
	r := m.review
	g := desk.GlyphOf(r.Status)
	l := join(words(in(inkStrong), " "+r.Worker), clean(in(inkOf(g.Class)), "  "+g.Sign+" "+r.Status), words(in(inkDim), "   "+r.Client))
	if r.Cost > 0 {
		l = join(l, clean(in(inkDim), fmt.Sprintf("   $%.2f", r.Cost)))
	}
	return join(l, clean(in(inkDim), "   "+ago(m.clock(), r.Since)))
}

// marked shows where a text was found.
func marked(l line, low string) line {
	out := append(line{}, l...)
	text, starts := strings.Builder{}, []int{}
	for _, c := range out {
		starts = append(starts, text.Len())
		text.WriteString(strings.ToLower(c.text))
	}
	s := text.String()
	for from := 0; ; {
		i := strings.Index(s[from:], low)
		if i < 0 {
			return out
		}
		for n, begin := range starts {
			if begin >= from+i && begin < from+i+len(low) {
				out[n].look.ground = groundFound
			}
		}
		from += i + len(low)
	}
}

// document is the review of the chosen worker, made for a width.
func (m *Model) document(width int) *document {
	if m.review == nil || m.review.Worker != m.wanted {
		return nil
	}
	wide := m.width >= wideFrom
	if m.sideways != nil {
		wide = *m.sideways
	}
	key := docKey{m.review, width, wide, len(m.open)<<32 + m.marks}
	if m.doc == nil || m.docFor != key {
		doc := reviewed(m.review, reading{width - 2, wide, m.open, m.isSeen, keyOf}, m.clock())
		if m.doc != nil && m.docFor.review.Worker == m.wanted {
			m.pager.stay(m.doc, doc)
		}
		m.doc, m.docFor = doc, key
	}
	return m.doc
}

// drawReview draws the whole screen of one worker.
func (m *Model) drawReview(c *canvas, room int) {
	d := m.document(m.width)
	if d == nil {
		c.add(clean(in(inkDim), "  "+m.nothingToSee()))
		return
	}
	where := m.whereabouts(d)
	c.add(join(m.identity().fit(m.width-where.width(), look{}), where))
	tabs := line{}
	for i, s := range d.sections {
		style := in(inkDim)
		if m.section(d) == i {
			style = look{inkAccent, groundChosen}
		}
		tab := join(clean(in(inkKey), fmt.Sprintf(" %d", i+1)), clean(style, " "+s.name))
		c.click(1+tabs.width(), tab.width(), func() tea.Cmd { return m.toSection(i) })
		tabs = join(tabs, tab)
	}
	c.add(tabs)
	c.add(m.window(c, d, 0, len(c.lines), room-2)...)
}

// section is the part of a document in which the cursor is.
func (m *Model) section(d *document) int {
	n := -1
	for i, s := range d.sections {
		if s.at <= m.pager.at {
			n = i
		}
	}
	return n
}

// drawFoot draws the last line: what is typed, what was said, or the keys.
func (m *Model) drawFoot(c *canvas) {
	switch {
	case m.prompt != nil:
		c.add(join(clean(in(inkKey), " "+m.prompt.sign), clean(look{}, m.prompt.text), clean(in(inkAccent), "▏"), clean(in(inkDim), "   "+m.prompt.hint)))
		return
	case m.note != "":
		c.add(words(in(inkHold), " "+m.note).clip(m.width))
		return
	case m.failure != nil:
		c.add(words(in(inkBad), " "+m.failure.Error()).clip(m.width))
		return
	}
	foot := clean(look{}, " ")
	for _, b := range m.footKeys() {
		one := join(clean(in(inkKey), b.sign()), clean(in(inkDim), " "+b.label))
		if foot.width()+one.width()+2 > m.width {
			continue
		}
		c.click(foot.width(), one.width(), func() tea.Cmd { return m.press(b) })
		foot = join(foot, one, blank(look{}, 2))
	}
	c.add(foot)
}
