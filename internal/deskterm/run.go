package deskterm

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Terminal is where the desk is shown.
type Terminal struct {
	In  io.Reader
	Out io.Writer
}

// Run shows the desk until the operator closes it. Nothing that runs ends with it.
func Run(ctx context.Context, t Terminal, source Source, acts Acts) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := New(ctx, source, acts, time.Now)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithoutSignalHandler())
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil // it was asked to end
	}
	return err
}
