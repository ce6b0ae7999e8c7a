package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/session"
	"cordon/internal/worktree"
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
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	read := s.Ledger
	if all {
		read = s.History
	}
	l, err := read()
	if err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(l.Workers), func(w *ledger.Worker) bool { return w.Removal != nil && !all })
	standings, err := s.Standings(ctx, shown)
	if err != nil {
		return err
	}
	objects := []map[string]any{}
	for _, w := range shown {
		if now := standings[w.ID]; wanted == nil || wanted(now.Status) {
			objects = append(objects, describe(s, w, now))
		}
	}
	if a.json {
		return a.object("cordon.workers/1", map[string]any{"workers": objects})
	}
	if len(objects) == 0 {
		a.say("no workers")
		return nil
	}
	rows := [][]string{{"WORKER", "STATUS", "AGE", "BASE", "BEHIND", "CHANGES", "DISK", "COMMAND"}}
	for _, o := range objects {
		rows = append(rows, lsRow(o))
	}
	table(a.out, squeezed(rows, width(a.out)))
	for _, o := range objects {
		a.asks(o)
	}
	return nil
}

// asksShown is how many questions of one worker ls shows.
const asksShown = 3

// asks says what a worker asks, a line for each question.
func (a *app) asks(worker map[string]any) {
	list := worker["questions"].([]map[string]any)
	for _, q := range list[:min(len(list), asksShown)] {
		begin, end := fmt.Sprintf("%s asks %s: ", worker["worker"], q["question"]), " (cordon inbox)"
		room := min(80, max(width(a.err)-len(begin)-len(end), 1))
		a.say("%s", clip(begin+clip(legible.Line(q["text"].(string)), room)+end, width(a.err)))
	}
	if more := len(list) - asksShown; more > 0 {
		a.say("%s asks %d more (cordon inbox)", worker["worker"], more)
	}
}

func lsRow(o map[string]any) []string {
	age := age(time.Since(o["created"].(time.Time)))
	changes := "-"
	if sum, ok := o["summary"]; ok {
		changes = fmt.Sprint(sum)
	}
	return []string{
		fmt.Sprint(o["worker"]), fmt.Sprint(o["status"]), age, fmt.Sprint(o["base_short"]),
		fmt.Sprint(o["behind"]), changes, size(o["disk"].(int64)), fmt.Sprint(o["command_line"]),
	}
}

// describe is a worker as an object.
func describe(s *session.Session, w *ledger.Worker, now session.Standing) map[string]any {
	l := w.Lease.Lease()
	o := map[string]any{
		"worker": w.ID, "status": now.Status, "behind": now.Behind, "created": w.Created, "changed": w.Changed, "expires": l.Expires,
		"base": l.Base, "base_short": l.Base.Short(), "target": l.Target, "branch": l.Branch,
		"worktree": s.TreeOf(w), "tree": treeKind(l), "adopted": l.Adopted, "lease": w.Lease.Hash(), "policy_source": l.Source,
		"command": w.Ran(), "command_line": session.Shorten(w.Ran()), "write_roots": w.Lease.Rules().Roots(),
	}
	o["disk"] = s.Disk(w)
	o["visits"], o["questions"] = w.Visits, openObjects(w)
	if w.Guard != nil {
		o["guard"] = w.Guard
	}
	if w.Net != nil {
		o["network"] = w.Net
	}
	agentFields(w, o)
	o["confinement"] = []string{}
	if w.Start != nil && w.Start.Layers != nil {
		o["confinement"] = w.Start.Layers
	}
	if w.Exit != nil {
		o["exit"] = w.Exit
	}
	if w.Audit != nil {
		o["audit"] = w.Audit
		o["summary"] = changes(w)
	}
	if w.Gate != nil {
		o["gate"] = w.Gate
	}
	if w.Quarantine != nil && now.Status == ledger.InQuarantine {
		o["reasons"] = w.Quarantine.Reasons
	}
	return o
}

func changes(w *ledger.Worker) string {
	text := fmt.Sprintf("%d", w.Audit.Summary.Landing)
	if n := w.Audit.Summary.Violations; n > 0 {
		text += fmt.Sprintf(" (%d out)", n)
	}
	return text
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
	o := describe(s, w, standings[w.ID])
	if a.json {
		return a.object("cordon.worker/1", o)
	}
	status := o["status"].(ledger.Status)
	a.printStatus(w, status)
	table(a.out, slices.Concat(leased(w, o), agentRows(w), ran(w), askedRows(w), judged(w)))
	for _, line := range advice(w, status) {
		a.say("  %s", line)
	}
	return nil
}

// leased are the rows of show about what a worker was given.
func leased(w *ledger.Worker, o map[string]any) [][]string {
	l := w.Lease.Lease()
	return [][]string{
		{"command", session.Shorten(w.Ran())},
		{"lease", "sha256:" + w.Lease.Hash() + ", until " + l.Expires.Format(time.RFC3339)},
		{"policy", l.Source + ", may write " + orNothing(strings.Join(w.Lease.Rules().Roots(), ", "))},
		{"base", fmt.Sprintf("%s for %s, behind by %v", l.Base.Short(), short(l.Target), o["behind"])},
		{"tree", treeWord(w, o)},
		{"cell", confinement(w)},
	}
}

// ran are those about what it did.
func ran(w *ledger.Worker) (rows [][]string) {
	if w.Exit != nil {
		rows = append(rows, []string{"exit", fmt.Sprintf("%d, %s", w.Exit.Code, how(w))})
	}
	if w.Guard != nil {
		rows = append(rows, []string{"guard", w.Guard.String() + "; cordon logs --guard " + string(w.ID)})
	}
	rows = append(rows, netRows(w)...)
	if w.Visits > 0 {
		rows = append(rows, []string{"visits", fmt.Sprintf("%d with cordon shell while it ran; what they changed counts as its work", w.Visits)})
	}
	if refused := session.RefusedCalls(w.Exit); len(refused) > 0 {
		rows = append(rows, []string{"refused", "at run time: " + strings.Join(refused, ", ")})
	}
	return rows
}

// judged are those about what became of that.
func judged(w *ledger.Worker) (rows [][]string) {
	if w.Audit != nil {
		n := w.Audit.Summary
		rows = append(rows, []string{"audit", fmt.Sprintf("%s: %d to land, %s, %d ignored, %d scratch, %d notes", w.Audit.Verdict, n.Landing,
			plural(n.Violations, "violation"), n.Ignored, n.Scratch, n.Notes)})
	}
	if w.Gate != nil {
		for _, c := range w.Gate.Checks {
			rows = append(rows, []string{"check", fmt.Sprintf("%q %s", c.Command, c.How())})
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
	return worktree.Ended(w.Lease.Lease().Policy.Limits, *w.Exit)
}

// treeKind is the kind of a worker's tree, in the words of cordon run.
func treeKind(l lease.Lease) session.TreeKind {
	if l.Tree == lease.Layered {
		return session.LayeredTree
	}
	return session.PlainTree
}

// treeWord says where a worker's tree is, and what it takes.
func treeWord(w *ledger.Worker, o map[string]any) string {
	taken := size(o["disk"].(int64))
	if w.Discard != nil || w.Removal != nil {
		return "gone"
	}
	if treeKind(w.Lease.Lease()) == session.LayeredTree {
		return fmt.Sprintf("copied on write, %s of its own (cordon checkout %s writes it out)", taken, w.ID)
	}
	return fmt.Sprintf("%s (%s)", o["worktree"], taken)
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
