package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// logsOptions are the arguments of cordon logs.
type logsOptions struct {
	guarded, net, suggest bool
	stream, follow        bool
}

func (a *app) logsCommand() *cobra.Command {
	var o logsOptions
	c := &cobra.Command{
		Use:   "logs ID",
		Short: "Print the output of a worker and its acceptance commands",
		Long: `Print the output of a worker and of its setup and acceptance commands. Or print the
decisions of its guard, its connections, or the policy lines that would allow the
refused connections.

An agent client reports its work as a stream of JSON. By default logs prints a readable
transcript of it; --stream prints the raw stream. An interactive worker draws on a
screen: logs prints the lines that it showed there.

-f follows the output until the worker ends, then prints the outcome. It always exits 0.`,
		Example: `  cordon logs brisk-otter | less
  cordon logs -f brisk-otter           as it comes, to the end
  cordon logs --stream brisk-otter     what its client printed, as JSON
  cordon logs --guard brisk-otter      what its guard decided, call by call
  cordon logs --net brisk-otter        what it tried to reach, and the answers
  cordon logs --suggest brisk-otter    what to add to the policy`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.logs(cmd.Context(), o, args[0])
		},
	}
	c.Flags().BoolVar(&o.guarded, "guard", false, "print the guard's decisions instead")
	c.Flags().BoolVar(&o.net, "net", false, "print its connections instead")
	c.Flags().BoolVar(&o.suggest, "suggest", false, "print the refused connections, as lines for the policy")
	c.Flags().BoolVar(&o.stream, "stream", false, "print the raw stream of its agent client instead")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "follow the output until the worker ends")
	return c
}

// check refuses flags that do not go together.
func (o logsOptions) check() error {
	reached := o.net || o.suggest
	switch {
	case o.guarded && reached:
		return usage("--guard and --net are two records: name one")
	case o.stream && (o.guarded || reached):
		return usage("--stream, --guard and --net are records of their own: name one")
	case o.follow && (o.guarded || reached):
		return usage("--follow goes with what was printed, not with --guard, --net and --suggest")
	}
	return nil
}

func (a *app) logs(ctx context.Context, o logsOptions, prefix string) error {
	s, w, err := a.worker(ctx, prefix)
	switch {
	case err != nil:
		return err
	case o.guarded:
		return a.decisions(s, w)
	case o.suggest:
		return a.suggest(s, w)
	case o.net:
		return a.reached(ctx, s, w)
	}
	p := page.Printed{Open: s.Transcript, Marks: s.Marks, Object: &view.Transcript{}, Nothing: "has printed nothing"}
	if o.stream {
		p = page.Printed{Open: s.StreamFile, Object: &view.Stream{}, Nothing: "has no stream: its command was no agent client, or it has not begun"}
	}
	if o.follow {
		return a.follow(ctx, s, w, p)
	}
	return a.page().Whole(w, p, "")
}

// decisions prints what a worker's guard decided.
func (a *app) decisions(s *session.Session, w *ledger.Worker) error {
	shown := view.Decisions{Worker: string(w.ID), Decisions: []view.Decision{}}
	t, err := s.Decisions(w, func(r guard.Record) { shown.Decisions = append(shown.Decisions, present.DecisionView(r)) })
	if err != nil {
		return err
	}
	return a.page().Decisions(w, &shown, t)
}
