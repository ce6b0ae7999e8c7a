package deskterm

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/legible"
)

// prompt is a line that is typed at the foot.
type prompt struct {
	sign, text, hint string
	change           func(*Model, string) tea.Cmd // while it is typed
	done             func(*Model, string) tea.Cmd
}

// find begins a filter or a search.
func (m *Model) find() tea.Cmd {
	if m.place == onReview || m.place == onDesk && m.pane {
		m.prompt = &prompt{sign: "/", hint: "⏎ searches, n goes on", done: func(m *Model, text string) tea.Cmd {
			m.found = text
			if text == "" {
				return nil
			}
			m.pager.at--
			return m.search(1)
		}}
		return nil
	}
	m.prompt = &prompt{sign: "/", text: m.filter, hint: "filters as you type, esc shows all",
		change: func(m *Model, text string) tea.Cmd { m.filter, m.rowAt = text, 0; return m.choose() }}
	return nil
}

// command begins the name of a place.
func (m *Model) command() tea.Cmd {
	m.prompt = &prompt{sign: ":", hint: "a worker's name, desk, plan, journal, fleet, q", done: (*Model).run}
	return nil
}

// run goes where a name leads.
func (m *Model) run(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	switch text {
	case "":
		return nil
	case "q", "quit":
		return tea.Quit
	case string(onDesk), string(onPlan), string(onJournal), string(onFleet):
		return m.visit(place(text))
	}
	for _, w := range m.desk.Workers {
		if strings.HasPrefix(w.ID, text) {
			m.cursor, m.place = item{worker: &w}.key(), onReview
			return m.want(w.ID)
		}
	}
	m.note = "no worker's name begins with “" + text + "”"
	return nil
}

// promptKey takes a key while something is typed.
func (m *Model) promptKey(k tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	switch k.String() {
	case "esc":
		m.prompt = nil
		if p.change != nil {
			return p.change(m, "")
		}
		return nil
	case "enter":
		m.prompt = nil
		if p.done != nil {
			return p.done(m, p.text)
		}
		return nil
	default:
		p.text = typed(p.text, k)
	}
	if p.change != nil {
		return p.change(m, p.text)
	}
	return nil
}

// typed is a text after a key.
func typed(text string, k tea.KeyPressMsg) string {
	switch k.String() {
	case "backspace":
		if r := []rune(text); len(r) > 0 {
			return string(r[:len(r)-1])
		}
	case "ctrl+u":
		return ""
	case "ctrl+w":
		text = strings.TrimRight(text, " ")
		return text[:strings.LastIndexByte(text, ' ')+1]
	}
	return text + k.Key().Text
}

// paste puts a text where something is typed. What cannot be seen is left out.
func (m *Model) paste(text string) {
	switch {
	case m.form != nil:
		m.form.paste(text)
	case m.prompt != nil:
		m.prompt.text += legible.PlainLine(text)
	}
}
