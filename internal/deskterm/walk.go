package deskterm

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// shown is the document on the screen; nil: there is none.
func (m *Model) shown() *document {
	switch {
	case m.place == onReview:
		return m.document(m.width)
	case m.place == onDesk && m.width >= wideFrom:
		return m.document(m.width - min(m.width*2/5, 80) - 1)
	case m.place == onDesk:
		return m.document(m.width)
	}
	return nil
}

// pageSize is how far a page goes.
func (m *Model) pageSize() int { return max(2, m.height-8) }

// move goes up or down in what has the focus.
func (m *Model) move(n int) tea.Cmd {
	switch {
	case m.place == onPlan:
		m.moveStage(n)
	case m.place == onJournal:
		m.rowAt = max(0, min(m.rowAt+n, len(m.events())-1))
	case m.place == onFleet:
		m.nodeAt = max(0, m.nodeAt+n) // the screen knows how many there are
	case m.place == onReview || m.pane:
		switch d := m.shown(); {
		case d == nil:
		case n == m.pageSize() || n == -m.pageSize():
			m.page(d, n)
		default:
			m.to(d, m.pager.at+n)
		}
	default:
		if items := m.items(); len(items) > 0 {
			return m.pick(max(0, min(m.at(items)+n, len(items)-1)))
		}
	}
	return nil
}

// pick chooses a row of the desk; a chosen one is opened.
func (m *Model) pick(n int) tea.Cmd {
	items := m.items()
	if n >= len(items) {
		return nil
	}
	m.cursor, m.pane = items[n].key(), false
	if name := items[n].name(); name != m.wanted {
		return m.want(name)
	}
	return nil
}

// enter opens what is chosen.
func (m *Model) enter() tea.Cmd {
	items := m.items()
	if len(items) == 0 {
		m.note = "nothing is chosen"
		return nil
	}
	it := items[m.at(items)]
	if it.stage != nil {
		for i, p := range m.desk.Plans {
			if p.Plan == it.stage.Plan {
				m.planAt = i
			}
		}
		return m.visit(onPlan)
	}
	m.place = onReview
	if it.name() != m.wanted {
		return m.want(it.name())
	}
	return nil
}

func (m *Model) back() tea.Cmd {
	if (m.found != "" || m.pager.begun > 0) && m.place == onReview {
		m.found, m.pager.begun = "", 0
		return nil
	}
	return m.visit(onDesk)
}

// visit goes to a screen.
func (m *Model) visit(p place) tea.Cmd {
	m.place, m.help = p, nil
	switch p {
	case onPlan:
		return m.loadPlans()
	case onJournal:
		m.journal, m.rowAt = nil, 0
		return m.loadJournal()
	case onFleet:
		return m.loadFleet()
	}
	return m.choose()
}

// jump goes to the next row of a kind.
func (m *Model) jump(step int, is func(row) bool) tea.Cmd {
	d := m.shown()
	for i := m.pager.at + step; i >= 0 && i < len(d.rows); i += step {
		if is(d.rows[i]) {
			m.lead(i)
			return nil
		}
	}
	m.note = "there is none further on"
	return nil
}

func (m *Model) toSection(i int) tea.Cmd {
	if d := m.shown(); i < len(d.sections) {
		m.lead(d.sections[i].at)
	}
	return nil
}

// file is the file of the cursor, from 1.
func (m *Model) file() int {
	d := m.shown()
	if d == nil || m.pager.at >= len(d.rows) {
		return 0
	}
	return d.rows[m.pager.at].file
}

func (m *Model) turn() tea.Cmd {
	d := m.shown()
	wide := !d.wide
	m.sideways = &wide
	return nil
}

// see marks the file of the cursor as seen, or takes that back, and goes to the next.
func (m *Model) see() tea.Cmd {
	blob := m.review.Files[m.file()-1].Content()
	if blob == "" {
		m.note = "the patch names no content of this file"
		return nil
	}
	seen, worker := !m.seen[blob], m.wanted
	m.seen[blob] = seen
	m.marks++
	keep := func() tea.Msg {
		if err := m.acts.See(context.WithoutCancel(m.ctx), worker, blob, seen); err != nil {
			return failedMsg{"the mark", err}
		}
		return nil
	}
	if seen {
		m.jump(1, isHead)
	}
	return keep
}

func (m *Model) isSeen(f desk.File) bool { return m.seen[f.Content()] }

func (m *Model) fold() tea.Cmd {
	f := m.review.Files[m.file()-1]
	if !f.Folded {
		m.note = "this file is not folded"
		return nil
	}
	if m.open[f.Name] {
		delete(m.open, f.Name)
	} else {
		m.open[f.Name] = true
	}
	return nil
}

// next goes on: to where the text was found, or to the next worker that needs a person.
func (m *Model) next() tea.Cmd {
	if m.found != "" && (m.place == onReview || m.pane) {
		return m.search(1)
	}
	items := m.items()
	at := -1
	for i, it := range items {
		if it.name() == m.wanted {
			at = i
		}
	}
	for step := 1; step <= len(items); step++ {
		if it := items[(at+step)%len(items)]; it.group == view.NeedsYou && it.name() != m.wanted {
			m.cursor = it.key()
			if it.stage != nil || m.place != onReview {
				m.place = onDesk
			}
			return m.want(it.name())
		}
	}
	m.note = "no other worker needs you"
	return nil
}

// search goes to the next row with the text.
func (m *Model) search(step int) tea.Cmd {
	d, low := m.shown(), strings.ToLower(m.found)
	if d == nil {
		return nil
	}
	for i, n := m.pager.at+step, 0; n < len(d.rows); i, n = i+step, n+1 {
		i = (i + len(d.rows)) % len(d.rows)
		if d.contains(i, low) {
			m.lead(i)
			return nil
		}
	}
	m.note = "“" + m.found + "” is not in this review"
	return nil
}
