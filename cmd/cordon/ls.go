package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) lsCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List workers and their status",
		Long: `List the workers of this repository. Their status is derived from the journal and from
facts that can be checked now: whether a process holds the worker's lock, and whether
its result is an ancestor of the target branch.`,
		Example: "  cordon ls\n  cordon ls --json | jq '.workers[] | select(.status == \"quarantined\")'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.ls(cmd.Context(), all, nil) },
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "include workers that gc has removed")
	return c
}

// ls lists the workers that wanted accepts.
func (a *app) ls(ctx context.Context, all bool, wanted func(ledger.Status) bool) error {
	workers, err := a.workers(ctx, all, wanted)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Workers{Workers: workers})
	}
	if len(workers) == 0 {
		a.say("no workers")
		return nil
	}
	rows := [][]string{{"WORKER", "STATUS", "AGE", "BASE", "BEHIND", "CHANGES", "DISK", "COMMAND"}}
	for _, w := range workers {
		rows = append(rows, present.ListRow(w))
	}
	terminal.Table(a.out, terminal.Squeezed(rows, terminal.Width(a.out)))
	for _, w := range workers {
		a.asks(w)
	}
	return nil
}

// workers are those that wanted accepts, as they are shown.
func (a *app) workers(ctx context.Context, all bool, wanted func(ledger.Status) bool) ([]view.Worker, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	read := s.Ledger
	if all {
		read = s.History
	}
	l, err := read()
	if err != nil {
		return nil, err
	}
	shown := slices.DeleteFunc(slices.Clone(l.Workers), func(w *ledger.Worker) bool { return w.Removal != nil && !all })
	standings, err := s.Standings(ctx, shown)
	if err != nil {
		return nil, err
	}
	list := []view.Worker{}
	for _, w := range shown {
		if now := standings[w.ID]; wanted == nil || wanted(now.Status) {
			list = append(list, present.WorkerView(s, w, now))
		}
	}
	return list, nil
}

// asksShown is how many questions of one worker ls shows.
const asksShown = 3

// asks says what a worker asks, a line for each question.
func (a *app) asks(w view.Worker) {
	for _, q := range w.Questions[:min(len(w.Questions), asksShown)] {
		begin, end := fmt.Sprintf("%s asks %s: ", w.ID, q.ID), " (cordon inbox)"
		room := min(80, max(terminal.Width(a.err)-len(begin)-len(end), 1))
		a.say("%s", terminal.Clip(begin+terminal.Clip(legible.Line(q.Text), room)+end, terminal.Width(a.err)))
	}
	if more := len(w.Questions) - asksShown; more > 0 {
		a.say("%s asks %d more (cordon inbox)", w.ID, more)
	}
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Show everything about one worker",
		Example:           "  cordon show brisk-otter",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), s, w)
		},
	}
}

func (a *app) show(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return err
	}
	v := present.WorkerView(s, w, standings[w.ID])
	if a.json {
		return a.object(&view.OneWorker{Worker: v})
	}
	status := standings[w.ID].Status
	a.printStatus(w, status)
	terminal.WrappedTable(a.out, slices.Concat(present.LeaseRows(w, v), present.AgentRows(v.Client), present.RunRows(w, v),
		present.AskedRows(w), present.JudgeRows(w, v)))
	for _, line := range present.Advice(w, status) {
		a.say("  %s", line)
	}
	return nil
}
