package desks

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/config"
	"cordon/internal/decide"
	"cordon/internal/desk"
	"cordon/internal/deskterm"
	"cordon/internal/deskterm/fill"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/notify"
	"cordon/internal/remark"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Fits reports whether the desk may open by itself, where nobody has typed cordon ui: on a terminal that can
// draw, and neither in CI nor where the operator does not want it.
func (a *Console) Fits() bool {
	return a.draws() && os.Getenv("CI") == "" && os.Getenv("CORDON_NO_UI") == ""
}

// Draws refuses where there is no terminal to draw on.
func (a *Console) Draws() error {
	if a.draws() {
		return nil
	}
	return &fault.MistakeError{Err: errors.New("the desk needs a terminal; cordon ui --plain prints it as lines, cordon ui --web opens it in the browser")}
}

// draws reports whether there is a terminal that can move its cursor.
func (a *Console) draws() bool { return terminal.Is(a.In) && terminal.Is(a.Out) && !dumb() }

func dumb() bool { t := os.Getenv("TERM"); return t == "" || t == "dumb" }

// Terminal is cordon ui: it shows the desk in the terminal, and ends the program with 0.
func (a *Console) Terminal(ctx context.Context) error {
	if err := a.Show(ctx); err != nil {
		return err
	}
	return a.Code(0) // ctrl-c is how it ends, too
}

// Show shows the desk in the terminal until the operator closes it.
func (a *Console) Show(ctx context.Context) error {
	if !a.draws() && terminal.Is(a.Out) && dumb() {
		return a.plain(ctx)
	}
	if err := a.Draws(); err != nil {
		return err
	}
	s, source, err := a.source(ctx)
	if err != nil {
		return err
	}
	own, err := s.Operator()
	if err != nil {
		return err
	}
	acts := deskterm.Acts{Decide: a.decide, See: a.see, Comment: a.comment, Uncomment: a.uncomment,
		Shell: func(worker string) deskterm.Program { return visit{a, s.Host.Top, worker} }, Alert: alerting(own.Notify, filepath.Base(s.Host.Top))}
	return deskterm.Run(ctx, deskterm.Terminal{In: a.In, Out: a.Out}, source, acts)
}

// worker opens the repository anew, since screens are read at the same time, and finds a worker.
func (a *Console) worker(ctx context.Context, name string) (*session.Session, *ledger.Worker, error) {
	s, err := a.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.Voice = terminal.NewVoice(io.Discard)
	w, err := s.Find(name)
	return s, w, err
}

// see keeps that a content was seen, or was not.
func (a *Console) see(ctx context.Context, name, blob string, seen bool) error {
	s, w, err := a.worker(ctx, name)
	if err != nil {
		return err
	}
	return remark.MarkSeen(s.Site, w, blob, seen)
}

// comment keeps a comment.
func (a *Console) comment(ctx context.Context, name string, on deskterm.Lines, text string) error {
	s, w, err := a.worker(ctx, name)
	if err != nil {
		return err
	}
	_, err = remark.Add(ctx, s.Site, w, remark.On{Path: on.Path, Side: on.Side, Blob: on.Blob, From: on.From, To: on.To}, text, a.Who()+" via tui")
	return err
}

// uncomment removes a comment.
func (a *Console) uncomment(ctx context.Context, name, id string) error {
	s, w, err := a.worker(ctx, name)
	if err != nil {
		return err
	}
	return remark.Remove(s.Site, w, id)
}

// plain prints the desk as lines, and goes on with each change as long as somebody is at the terminal.
func (a *Console) plain(ctx context.Context) error {
	_, source, err := a.source(ctx)
	if err != nil {
		return err
	}
	if err := deskterm.Plain(ctx, a.Out, source, time.Now, terminal.Is(a.Out)); err != nil {
		return err
	}
	return a.Code(0)
}

func (a *Console) source(ctx context.Context) (*session.Session, *fill.Source, error) {
	s, err := a.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.Voice = terminal.NewVoice(io.Discard) // nothing is said over the screen
	source, err := fill.New(s)
	return s, source, err
}

// decide carries out a decision, and says what became of the worker.
func (a *Console) decide(ctx context.Context, d decide.Decision) (string, error) {
	before, _, err := a.worker(ctx, d.Worker)
	if err != nil {
		return "", err
	}
	o, err := decide.Run(ctx, before.Host.Top, d)
	switch {
	case err != nil:
		return "", err
	case !o.Ended:
		return d.Choice + ": decided, and being carried out", nil
	}
	s, w, err := a.worker(ctx, d.Worker)
	if err != nil {
		return "", err
	}
	status, err := s.Status(ctx, w)
	return d.Choice + ": it is now " + string(status) + ".", err
}

// alerting is what the terminal is sent when a worker needs the operator, if their configuration wants it.
func alerting(own config.Notify, repository string) func(view.Worker) string {
	return func(w view.Worker) string {
		if !own.Terminal {
			return ""
		}
		state := desk.State(w)
		m := notify.Message{Worker: w.ID, State: state, Repository: repository, Says: state}
		if own.Text { // the reason has words of the agent's: its question, names of files
			m.Agent = desk.Why(w)
		}
		return notify.Sequence(m, os.Getenv)
	}
}
