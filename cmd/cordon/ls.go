package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/workspace"
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
		rows = append(rows, lsRow(w))
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
			list = append(list, workerView(s, w, now))
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

func lsRow(w view.Worker) []string {
	return []string{
		w.ID, w.Status, terminal.Age(time.Since(w.Created)), w.BaseShort,
		strconv.Itoa(w.Behind), cmp.Or(w.Summary, "-"), terminal.Size(w.Disk), w.Line,
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
	v := workerView(s, w, standings[w.ID])
	if a.json {
		return a.object(&view.OneWorker{Worker: v})
	}
	status := standings[w.ID].Status
	a.printStatus(w, status)
	terminal.Table(a.out, slices.Concat(leased(w, v), agentRows(v.Client), ran(w, v), askedRows(w), judged(w, v)))
	for _, line := range advice(w, status) {
		a.say("  %s", line)
	}
	return nil
}

// leased are the rows of show about what a worker was given.
func leased(w *ledger.Worker, v view.Worker) [][]string {
	return [][]string{
		{"command", v.Line},
		{"lease", "sha256:" + v.Lease + ", until " + v.Expires.Format(time.RFC3339)},
		{"policy", v.Source + ", may write " + orNothing(strings.Join(v.WriteRoots, ", "))},
		{"base", fmt.Sprintf("%s for %s, behind by %d", v.BaseShort, short(v.Target), v.Behind)},
		{"tree", treeWord(w, v)},
		{"cell", confinement(w)},
	}
}

// ran are those about what it did.
func ran(w *ledger.Worker, v view.Worker) (rows [][]string) {
	if v.Exit != nil {
		rows = append(rows, []string{"exit", fmt.Sprintf("%d, %s", v.Exit.Code, how(w))})
	}
	if w.Guard != nil {
		rows = append(rows, []string{"guard", w.Guard.String() + "; cordon logs --guard " + v.ID})
	}
	rows = append(rows, netRows(w)...)
	if v.Visits > 0 {
		rows = append(rows, []string{"visits", fmt.Sprintf("%d with cordon shell while it ran; what they changed counts as its work", v.Visits)})
	}
	if refused := inspect.RefusedCalls(w.Exit); len(refused) > 0 {
		rows = append(rows, []string{"refused", "at run time: " + strings.Join(refused, ", ")})
	}
	return rows
}

// judged are those about what became of that.
func judged(w *ledger.Worker, v view.Worker) (rows [][]string) {
	if v.Audit != nil {
		n := v.Audit.Summary
		rows = append(rows, []string{"audit", fmt.Sprintf("%s: %d to land, %s, %d ignored, %d scratch, %d notes",
			v.Audit.Verdict, n.Landing, terminal.Plural(n.Violations, "violation"), n.Ignored, n.Scratch, n.Notes)})
	}
	if v.Gate != nil {
		for _, c := range v.Gate.Checks {
			rows = append(rows, []string{"check", fmt.Sprintf("%q %s", c.Command, cmp.Or(c.Ended, fmt.Sprintf("ended with %d", c.Code)))})
		}
	}
	if w.Release != nil {
		rows = append(rows, []string{"released", "by " + w.Release.Who + ": " + w.Release.Why})
	}
	return rows
}

// how says how a worker's command ended: by itself, or at which limit.
func how(w *ledger.Worker) string {
	if w.Exit.Reason == cell.Exited {
		return string(cell.Exited)
	}
	return enclosure.DescribeExit(w.Lease.Lease().Policy.Limits, *w.Exit)
}

// treeKind is the kind of a worker's tree, in the words of cordon run.
func treeKind(l lease.Lease) workspace.TreeKind {
	if l.Tree == lease.Layered {
		return workspace.LayeredTree
	}
	return workspace.PlainTree
}

// treeWord says where a worker's tree is, and what it takes.
func treeWord(w *ledger.Worker, v view.Worker) string {
	if w.Discard != nil || w.Removal != nil {
		return "gone"
	}
	if v.Tree == string(workspace.LayeredTree) {
		return fmt.Sprintf("copied on write, %s of its own (cordon checkout %s writes it out)", terminal.Size(v.Disk), v.ID)
	}
	return fmt.Sprintf("%s (%s)", v.Worktree, terminal.Size(v.Disk))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func confinement(w *ledger.Worker) string {
	if w.Start == nil {
		return "not started"
	}
	if unstarted(w) {
		return "the command could not be started"
	}
	return w.Start.Cell.String()
}

// unstarted reports whether a worker's command never ran, so that its cell says
// nothing.
func unstarted(w *ledger.Worker) bool { return w.Exit != nil && w.Exit.Reason == cell.NotStarted }
