package launch

import (
	"io"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/worksite"
)

// shareTerminal lets other terminals of the operator's join that of a worker as long as its
// command runs. A worker works without that as well.
func shareTerminal(s *worksite.Site, id lease.ID, how Request, r *equipment, c *cell.Command) (end func()) {
	if how.Terminal == nil || c.Cell == nil && how.Outer == nil {
		return func() {} // nothing is handed over, or the operator's own terminal itself
	}
	screen, err := cell.NewScreen(how.Outer)
	if err == nil {
		screen.Sized = r.drawing.Sized
		r.answerDialogs(screen)
		end, err = screen.Close, screen.Open(s.State.Worker(string(id)))
	}
	if err != nil {
		s.Voice.Step(id, "attach", "no other terminal can join: "+err.Error())
	}
	if end == nil {
		return func() {}
	}
	if c.Screen = screen; how.Outer == nil {
		c.Transcript = io.MultiWriter(r.transcript, screen)
	}
	if r.dialogs != nil && c.Transcript != nil {
		c.Transcript = io.MultiWriter(c.Transcript, r.dialogs)
		closed := end
		end = func() { r.dialogs.end(); closed() }
	}
	return end
}
