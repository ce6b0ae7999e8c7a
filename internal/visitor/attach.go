package visitor

import (
	"context"
	"errors"
	"os"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Attach joins a terminal of the operator's to that of a worker. begun is called
// before the terminal is handed over.
func Attach(ctx context.Context, s *worksite.Site, w *ledger.Worker, tty *os.File, begun func()) (cell.Parting, error) {
	how, err := cell.Join(ctx, s.State.Worker(string(w.ID)), tty, begun)
	var kept *cell.NotAdmittedError
	switch {
	case errors.As(err, &kept):
		return "", fault.Refuse("%s: %w", w.ID, err)
	case errors.Is(err, cell.ErrNoScreen):
		return "", fault.Refuse("%s %s", w.ID, noScreen(s, w))
	}
	return how, err
}

// noScreen says why a worker has no terminal to join.
func noScreen(s *worksite.Site, w *ledger.Worker) string {
	id := string(w.ID)
	switch {
	case s.State.Held(state.WorkerLock(id)) && w.Away != nil && w.Away.Grant == nil:
		return "waits for a node (cordon fleet ls shows whether one is ready)"
	case s.State.Held(state.WorkerLock(id)) && w.RunsAway() && w.Options.Interactive:
		return "runs on " + w.Away.Grant.Name + ", whose terminal has not arrived yet: cordon fleet home must run"
	case s.State.Held(state.WorkerLock(id)) && !w.RunsAway() && (w.Start == nil || w.Exit != nil):
		return "is not running now: another cordon command is working on it"
	case s.State.Held(state.WorkerLock(id)):
		return "has no terminal that another can join (cordon logs -f " + id + " shows what it prints)"
	case w.Start != nil && w.Exit == nil:
		return "is not running: its supervisor exited (cordon resume " + id + " continues it)"
	}
	return "is not running (cordon show " + id + " shows what happened to it)"
}
