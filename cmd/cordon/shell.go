package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/foreground"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/visitor"
)

func (a *app) shellCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "shell ID [-- COMMAND [ARG...]]",
		Short: "Run a command or a shell inside a worker's cell",
		Long: `Run COMMAND, or your shell, with a worker's view of the machine and confined as the
worker is.

While the worker runs, the visit takes place in its cell: with its tree, home,
processes, environment and limits. Your changes are real for the worker and audited as
its work; the journal records the visit. The worker can see what you type and write to
your terminal, so type nothing that it must not know. The visit ends with its command
and what that leaves in its session, or with the worker. A cell takes at most eight
visitors at once.

When the worker does not run, the visit takes place in a new cell with what the worker
left, in quarantine too. Your changes there are discarded.`,
		Example: `  cordon shell brisk-otter
  cordon shell brisk -- git log --oneline
  cordon shell brisk -- tail -n 20 /tmp/build.log`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.visit(cmd.Context(), s, w, args[1:])
		},
	}
	return c
}

// visit runs a command beside a worker, with this program's descriptors outside.
func (a *app) visit(ctx context.Context, s *session.Session, w *ledger.Worker, argv []string) error {
	signals, stop := foreground.Signals()
	defer stop()
	c := cell.Command{Argv: argv, Env: os.Environ(), Signals: signals}
	foreground.Attach(&c)
	exit, err := visitor.Visit(ctx, s.Site, w, c)
	var refused *fault.RefusedError
	switch {
	case errors.As(err, &refused):
		return err
	case err == nil && exit.Reason == cell.Vanished:
		a.say("cordon: %s has ended, and the visit with it", w.ID)
		return codeError(exit.Code)
	}
	return a.execOutcome(w.Lease.Lease().Policy.Limits, exit, err)
}
