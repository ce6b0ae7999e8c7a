package deskterm

import tea "charm.land/bubbletea/v2"

// click does what is drawn where the mouse is.
func (m *Model) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.form != nil {
		return nil
	}
	m.note = ""
	if m.help != nil {
		m.help = nil
		return nil
	}
	for _, h := range m.draw().hits {
		if at.Y != h.y || at.X < h.x || at.X >= h.x+h.width {
			continue
		}
		return h.do()
	}
	return nil
}

// clickItem chooses a row of the list; the chosen one is opened.
func (m *Model) clickItem(n int) tea.Cmd {
	if items := m.items(); n < len(items) && items[n].key() == m.cursor {
		return m.enter()
	}
	return m.pick(n)
}

// drag makes a range of the rows over which the button is held.
func (m *Model) drag(at tea.Mouse) {
	if at.Button != tea.MouseLeft || m.form != nil || m.help != nil {
		return
	}
	for _, h := range m.draw().hits {
		if h.drag != nil && at.Y == h.y && at.X >= h.x && at.X < h.x+h.width {
			h.drag()
			return
		}
	}
}

// wheel scrolls what is under the mouse.
func (m *Model) wheel(at tea.Mouse) {
	n := 3
	if at.Button == tea.MouseWheelUp {
		n = -3
	}
	if at.Button != tea.MouseWheelUp && at.Button != tea.MouseWheelDown || m.form != nil {
		return
	}
	if m.help != nil {
		m.help.top = max(0, m.help.top+n)
		return
	}
	if d := m.shown(); d != nil { // nothing is chosen by scrolling
		m.scroll(d, n)
		return
	}
	m.move(n)
}
