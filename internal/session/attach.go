package session

import (
	"context"
	"errors"
	"io"
	"os"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// show lets other terminals of the operator's join that of a worker as long as its
// command runs. A worker works without that as well.
func (s *Session) show(id lease.ID, how Request, transcript io.Writer, c *cell.Command) (end func()) {
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

// Attach joins a terminal of the operator's to that of a worker. begun is called
// before the terminal is handed over.
func (s *Session) Attach(ctx context.Context, w *ledger.Worker, tty *os.File, begun func()) (cell.Parting, error) {
	how, err := cell.Join(ctx, s.State.Worker(string(w.ID)), tty, begun)
	var kept *cell.NotAdmittedError
	switch {
	case errors.As(err, &kept):
		return "", refuse("%s: %w", w.ID, err)
	case errors.Is(err, cell.ErrNoScreen):
		return "", refuse("%s %s", w.ID, s.noScreen(w))
	}
	return how, err
}

// noScreen says why a worker has no terminal to join.
func (s *Session) noScreen(w *ledger.Worker) string {
	id := string(w.ID)
	switch {
	case s.State.Held(state.WorkerLock(id)) && (w.Start == nil || w.Exit != nil):
		return "does not run now: cordon is at work on it"
	case s.State.Held(state.WorkerLock(id)):
		return "has no terminal that another can join (cordon logs -f " + id + " shows what it prints)"
	case w.Start != nil && w.Exit == nil:
		return "does not run: the cordon that ran it is gone, and it with that (cordon resume " + id + " goes on)"
	}
	return "does not run (cordon show " + id + " tells what became of it)"
}
