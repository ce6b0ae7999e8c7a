package launch

import (
	"context"
	"errors"
	"fmt"
	"io"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// setup prepares the tree. A worker that ran before may have written what the
// commands run, and the baseline of its next launch is not taken yet.
func setup(ctx context.Context, s *worksite.Site, w *ledger.Worker, out io.Writer) error {
	l := w.Lease.Lease()
	if len(l.Policy.Setup) == 0 {
		return nil
	}
	return inspect.WatchHost(ctx, s, w, func() error { return runSetup(ctx, s, w.Lease, out) })
}

func runSetup(ctx context.Context, s *worksite.Site, sealed lease.Sealed, out io.Writer) error {
	l := sealed.Lease()
	for _, line := range l.Policy.Setup {
		s.Voice.Step(l.ID, "setup", line)
		fmt.Fprintf(out, "$ %s\n", line)
		c, err := setupCommand(ctx, s, sealed, line)
		if err != nil {
			return err
		}
		var tail enclosure.Tail
		c.Stdout = io.MultiWriter(out, &tail)
		c.Stderr = c.Stdout
		var layers []cell.Layer
		c.Started = func(l cell.Launch) error { layers = l.Layers; return nil }
		exit, err := cell.Run(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var weak *cell.MissingError
		if errors.As(err, &weak) {
			return &fault.RefusedError{Err: err}
		}
		if err != nil || !exit.OK() {
			if hint := enclosure.ExplainHome(l, sealed.Rules(), c.Cell, line, tail.String()); hint != "" {
				s.Voice.Step(l.ID, "home", hint)
			}
			return &SetupError{l.ID, line, exit, layers, l.Policy.Limits}
		}
	}
	return nil
}

// SetupError is a setup command that failed, so that there is no worker.
type SetupError struct {
	ID     lease.ID
	Line   string
	Exit   cell.Exit
	Layers []cell.Layer // of its cell
	Limits policy.Limits
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("setup command %q failed, it %s: the worker was not started; see cordon logs %s", e.Line, enclosure.DescribeExit(e.Limits, e.Exit), e.ID)
}
