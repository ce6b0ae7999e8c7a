package deskterm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/view"
)

// events are those of the journal that pass the filter.
func (m *Model) events() []view.Event {
	if m.journal == nil {
		return nil
	}
	if m.filter == "" {
		return m.journal.Events
	}
	var list []view.Event
	low := strings.ToLower(m.filter)
	for _, e := range m.journal.Events {
		if has(e.Worker+" "+e.Type, low) || has(string(e.Data), low) {
			list = append(list, e)
		}
	}
	return list
}

// drawJournal draws the events, the newest first, and the chosen one as it is recorded.
func (m *Model) drawJournal(c *canvas, room int) {
	if m.journal == nil {
		c.add(clean(in(inkDim), "  verifying the journal …"))
		return
	}
	v, events := m.journal.Verify, m.events()
	c.add(verified(v), nil)
	detail := m.event(events)
	left := max(3, room-2-len(detail))
	m.rowAt = max(0, min(m.rowAt, len(events)-1))
	top := scrolled(0, m.rowAt, len(events), left)
	for i := top; i < len(events) && i-top < left; i++ {
		c.click(0, m.width, func() tea.Cmd { m.rowAt = i; return nil })
		l := eventLine(events[i], true).clip(m.width)
		if i == m.rowAt {
			l = l.fit(m.width, look{}).on(groundChosen)
		}
		c.add(l)
	}
	if len(events) == 0 {
		c.add(clean(in(inkDim), "  no event passes the filter “"+m.filter+"”"))
	}
	c.add(detail...)
}

// verified says what the check of the hash chain found.
func verified(v view.Verify) line {
	if v.Problem != nil {
		return join(clean(in(inkBad), " ✗ damaged "), words(look{}, fmt.Sprintf(" at line %d: %s; %d events before are sound. cordon journal repair", v.Problem.Line,
			v.Problem.Problem, v.Events)))
	}
	l := join(clean(in(inkOK), " ✓ sound "), clean(look{}, fmt.Sprintf(" %d events verified", v.Events)),
		clean(in(inkDim), "   head "+v.Last[:min(16, len(v.Last))]))
	if v.Torn {
		l = join(l, clean(in(inkHold), "   the last append was interrupted; the next one repairs it"))
	}
	return l
}

// event is the chosen event as it is recorded.
func (m *Model) event(events []view.Event) []line {
	if m.rowAt >= len(events) {
		return nil
	}
	e := events[m.rowAt]
	out := []line{m.rule(fmt.Sprintf("%d %s", e.Seq, e.Type))}
	var text bytes.Buffer
	if json.Indent(&text, e.Data, "", "  ") != nil {
		text.Reset()
		text.Write(e.Data)
	}
	for l := range strings.Lines(text.String()) {
		if len(out) == 8 {
			out = append(out, clean(in(inkDim), "  … cordon journal --json prints all of it"))
			break
		}
		out = append(out, begun(look{}, "  "+strings.TrimRight(l, "\n"), m.width).clip(m.width))
	}
	return append(out, clean(in(inkDim), "  hash "+e.Hash))
}
