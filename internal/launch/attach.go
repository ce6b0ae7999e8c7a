package launch

import (
	"io"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// shareTerminal lets other terminals of the operator's join that of a worker as long as its
// command runs. A worker works without that as well.
func shareTerminal(s *worksite.Site, id lease.ID, how Request, transcript io.Writer, c *cell.Command) (end func()) {
	if how.Terminal == nil || c.Cell == nil && how.Outer == nil {
		return func() {} // nothing is handed over, or the operator's own terminal itself
	}
	screen, err := cell.NewScreen(how.Outer)
	if err == nil {
		end, err = screen.Close, screen.Open(s.State.Worker(string(id)))
	}
	if err != nil {
		s.Voice.Step(id, "attach", "no other terminal can join: "+err.Error())
	}
	if end == nil {
		return func() {}
	}
	if c.Screen = screen; how.Outer == nil {
		c.Transcript = io.MultiWriter(transcript, screen)
	}
	return end
}
