package deskterm

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// help lists the keys, and those only that have a text in them.
type help struct {
	text string
	top  int
}

func (m *Model) helpKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "?", "enter":
		m.help = nil
	case "down", "pgdown":
		m.help.top++
	case "up", "pgup":
		m.help.top = max(0, m.help.top-1)
	default:
		m.help.text, m.help.top = typed(m.help.text, k), 0
	}
	return nil
}

func (m *Model) drawHelp(c *canvas, room int) {
	c.add(join(clean(in(inkHead), " KEYS  "), clean(look{}, m.help.text), clean(in(inkAccent), "▏"), clean(in(inkDim), "   type to search, esc closes")), nil)
	var rows []line
	for _, b := range bindings() {
		where := "everywhere"
		if len(b.on) > 0 {
			names := []string{}
			for _, p := range b.on {
				names = append(names, string(p))
			}
			where = strings.Join(names, ", ")
		}
		if !has(strings.Join(b.keys, " ")+" "+b.help+" "+where, strings.ToLower(m.help.text)) {
			continue
		}
		l := in(inkText)
		if !m.reaches(b) {
			l = in(inkDim)
		}
		rows = append(rows, join(blank(look{}, 2), clean(in(inkKey), strings.Join(b.keys, "  ")).fit(22, look{}), clean(l, b.help).fit(max(20, m.width-46), look{}),
			clean(in(inkDim), "  "+where)))
	}
	m.help.top = max(0, min(m.help.top, len(rows)-1))
	for i := m.help.top; i < len(rows) && i-m.help.top < room-2; i++ {
		c.add(rows[i].clip(m.width))
	}
	if len(rows) == 0 {
		c.add(clean(in(inkDim), "  no key does that"))
	}
}
