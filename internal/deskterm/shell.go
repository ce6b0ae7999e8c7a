package deskterm

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// Program is something that has the terminal for itself while it runs.
type Program interface {
	Run() error
	SetStdin(io.Reader)
	SetStdout(io.Writer)
	SetStderr(io.Writer)
}

// visitedMsg says how a visit ended.
type visitedMsg struct {
	worker string
	err    error
}

// shell gives the terminal to a shell in the worker's cell.
func (m *Model) shell() tea.Cmd {
	name := m.wanted
	return tea.Exec(m.acts.Shell(name), func(err error) tea.Msg { return visitedMsg{name, err} })
}

// visited goes on after a visit.
func (m *Model) visited(msg visitedMsg) tea.Cmd {
	m.note = "the visit to " + msg.worker + " has ended"
	if msg.err != nil {
		m.note = "the visit to " + msg.worker + ": " + msg.err.Error()
	}
	return m.load()
}
