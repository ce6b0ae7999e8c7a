package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/visitor"
)

func (a *app) attachCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "attach ID",
		Short: "Join the terminal of a worker",
		Long: `Join the terminal of an interactive worker: one that was started with cordon run -i
here or elsewhere, or with cordon run -d -i in the background. You see its last output
and everything that follows, and your input goes to the worker, ctrl-c included. The
worker's terminal takes the size of the terminal that joined or changed last. Several
terminals can join, and the one that started the worker keeps working.

A worker on a node of a fleet is joined in the same way while cordon fleet home runs
(cordon run -d -i --on NODE). Keys take up to a second to get there if nobody has typed
for a minute.

ctrl-\ detaches, and the worker continues. attach ends when the worker ends.`,
		Example:           "  cordon run -d -i " + exampleClient + "\n  cordon attach brisk-otter",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.liveNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !terminal.Is(a.in) {
				return usage("cordon attach needs a terminal (cordon logs -f shows what a worker prints)")
			}
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.attach(cmd.Context(), s, w)
		},
	}
}

func (a *app) attach(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	how, err := visitor.Attach(ctx, s.Site, w, a.in, func() { a.say("attached to %s; ctrl-\\ detaches", w.ID) })
	if err != nil {
		return err
	}
	switch how {
	case cell.Detached:
		a.say("detached from %s, which keeps running; cordon attach %s joins it again", w.ID, w.ID)
	case cell.Finished:
		a.say("%s has ended; cordon show %s shows the result", w.ID, w.ID)
	case cell.Behind:
		a.say("detached from %s, because it prints faster than this terminal can keep up; cordon attach %s joins it again", w.ID, w.ID)
		return codeError(exitFailed)
	default:
		if w.Options.On != "" {
			a.say("the home of the fleet exited; %s keeps running on its node, and cordon attach %s joins it again once a home runs", w.ID, w.ID)
			return codeError(exitFailed)
		}
		a.say("the supervisor of %s exited, and the worker ended with it; cordon resume %s continues", w.ID, w.ID)
		return codeError(exitFailed)
	}
	return nil
}
