package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/dispatch"
	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/page"
	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/seen"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) quarantineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "quarantine",
		Short: "List, show, release or discard results that did not pass",
		Long: `cordon quarantines a result that violates its lease, fails acceptance, or cannot be
judged. The tree is frozen. The result and its evidence stay under
refs/cordon/quarantine/ID in your repository, where git gc does not remove them.`,
		Example: "  cordon quarantine ls\n  cordon quarantine show brisk-otter",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use: "ls", Short: "List quarantined results, with the reason", Args: cobra.NoArgs, Example: "  cordon quarantine ls",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.quarantined(cmd.Context()) },
		},
		&cobra.Command{
			Use: "show ID", Short: "Show why a result is quarantined, with the evidence",
			Example: "  cordon quarantine show brisk-otter", Args: cobra.ExactArgs(1), ValidArgsFunction: a.quarantinedNames,
			RunE: func(cmd *cobra.Command, args []string) error { return a.quarantineShow(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "diff ID", Short: "Show the quarantined result as a patch", Example: "  cordon quarantine diff " +
				"brisk-otter", Args: cobra.ExactArgs(1), ValidArgsFunction: a.quarantinedNames,
			RunE: func(cmd *cobra.Command, args []string) error {
				s, w, err := a.inQuarantine(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if err := a.diff(cmd.Context(), s, w, false); err != nil || a.json {
					return err
				}
				return a.sayCaptured(cmd.Context(), s, w, a.say)
			},
		},
		a.releaseCommand(), a.discardCommand(),
	)
	return c
}

// inQuarantine finds a worker that is quarantined.
func (a *app) inQuarantine(ctx context.Context, prefix string) (*session.Session, *ledger.Worker, error) {
	s, w, err := a.worker(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	status, err := s.Status(ctx, w)
	if err == nil && status != ledger.InQuarantine {
		err = usage("%s is %s, not quarantined", w.ID, status)
	}
	return s, w, err
}

func (a *app) quarantined(ctx context.Context) error {
	inside := func(s ledger.Status) bool { return s == ledger.InQuarantine }
	workers, err := a.workers(ctx, inside)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Workers{Workers: workers})
	}
	var rows [][]string
	for _, w := range workers {
		rows = append(rows, []string{w.ID, w.Changed.Local().Format("2006-01-02 15:04"), terminal.Clip(present.FirstReason(w.Reasons), 100)})
	}
	if len(rows) == 0 {
		a.say("nothing is quarantined")
		return nil
	}
	terminal.Table(a.out, rows)
	return nil
}

func (a *app) quarantineShow(ctx context.Context, prefix string) error {
	s, w, err := a.inQuarantine(ctx, prefix)
	if err != nil {
		return err
	}
	if a.json {
		manifest, err := s.Evidence(ctx, w, "manifest.json")
		if err != nil {
			return err
		}
		return a.page().Raw(manifest)
	}
	a.print("%s  quarantined", w.ID)
	for _, reason := range w.Quarantine.Reasons {
		a.print("  %s", reason)
	}
	a.print("tree      %s (frozen: do not run git in it)", s.TreeOf(w))
	a.print("result    refs/cordon/quarantine/%s/result", w.ID)
	a.print("evidence  refs/cordon/quarantine/%s/evidence", w.ID)
	for i, m := range w.Quarantine.Missing {
		if i == page.MaxShown {
			a.print("only in the frozen tree: and %d more", len(w.Quarantine.Missing)-i)
			break
		}
		a.print("only in the frozen tree: %s", m)
	}
	for _, line := range present.FailedOutput(w) {
		a.print("%s", line)
	}
	if w.Audit != nil {
		if err := a.sayCaptured(ctx, s, w, a.print); err != nil {
			return err
		}
		r, err := s.Report(w)
		if err != nil {
			return err
		}
		a.print("")
		if err := a.page().Report(w, r); err != nil {
			return err
		}
	}
	for _, line := range present.Advice(w, ledger.InQuarantine)[1:] {
		a.say("  %s", line)
	}
	a.say("  %s", session.ReleaseCommand(w, s.WrongWith(w)))
	return nil
}

// sayCaptured tells what was written outside the tree and where its content lies.
func (a *app) sayCaptured(ctx context.Context, s *session.Session, w *ledger.Worker, tell func(string, ...any)) error {
	list, err := s.Captured(ctx, w)
	if err != nil || len(list) == 0 {
		return err
	}
	tell("outside   %s (private layers: do not run anything in them)", s.LayersOf(w))
	for i, c := range list {
		if i == page.MaxShown {
			tell("  and %d more: --json has them", len(list)-i)
			break
		}
		tell("  %s %s%s", c.Kind, c.Path, present.Lies(c, w))
	}
	return nil
}

func (a *app) releaseCommand() *cobra.Command {
	var file, reason, saw string
	var writes []string
	var leave bool
	accept := map[ledger.Cause]*bool{}
	c := &cobra.Command{
		Use:   "release ID --reason WHY [--accept-KIND]...",
		Short: "Land a quarantined result in spite of what you name",
		Long: `Judge the stored result of a quarantined worker again, without the faults that you name.
If it passes, take it through the gate: acceptance, merge, compare-and-swap. The journal
records who released it, why, and what was waived. A fault that you do not name is never
waived: cordon then lists what is wrong and prints the command that names all of it. Things that no policy can allow (a nested repository,
a device, a link that leads out) are not part of the stored result; the rest lands only
with --leave-behind.

--policy names the amended policy; --write adds a root to the worker's own. Without
--accept-failed, acceptance commands that failed have to pass.`,
		Example: `  cordon quarantine release brisk --write go.sum --reason "new version"
  cordon quarantine release brisk --policy wider.yaml --accept-host --reason ok`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.quarantinedNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usage("say why with --reason: it goes into the journal")
			}
			am := session.Amendment{Who: operator(), Why: reason, LeaveBehind: leave, Amended: file != "" || len(writes) > 0}
			for cause, named := range accept {
				if *named {
					am.Accept = append(am.Accept, cause)
				}
			}
			return a.release(cmd.Context(), args[0], saw, file, writes, am)
		},
	}
	seenFlag(c, &saw)
	c.Flags().StringVar(&file, "policy", "", "the amended policy `FILE`")
	c.Flags().StringArrayVar(&writes, "write", nil, "add `ROOT` to the write_roots (repeatable)")
	c.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	c.Flags().BoolVar(&leave, "leave-behind", false, "land the rest if a part cannot be released")
	accept[ledger.ChangedHost] = c.Flags().Bool("accept-host", false, "the changes to your repository are yours, or harmless")
	accept[ledger.UnprovenGuard] = c.Flags().Bool("accept-unproven", false, "land it although its agent may have run without its guard")
	accept[ledger.FailedAcceptance] = c.Flags().Bool("accept-failed", false, "land it although acceptance fails")
	accept[ledger.NotJudged] = c.Flags().Bool("accept-unjudged", false, "land it although cordon could not judge it")
	return c
}

func (a *app) release(ctx context.Context, prefix, saw, file string, writes []string, am session.Amendment) error {
	s, w, err := a.worker(ctx, prefix)
	if err != nil {
		return err
	}
	if err := a.saw(ctx, s, w, saw, seen.ForLanding, ""); err != nil {
		return err
	}
	am.Policy, am.Source = w.Lease.Lease().Policy, "lease of "+string(w.ID)
	if file != "" {
		if am.Policy, am.Source, err = s.PolicyFile(file); err != nil {
			return err
		}
	}
	if len(writes) > 0 {
		if am.Policy, err = amended(am.Policy, writes); err != nil {
			return err
		}
		am.Source += " with --write " + strings.Join(writes, " --write ")
	}
	after, err := s.Release(ctx, w, am, a.drive(ledger.Options{}))
	return a.outcome(ctx, a.out, s, w, after, err)
}

func amended(p policy.Policy, writes []string) (policy.Policy, error) {
	roots := append(append([]string{}, p.Filesystem.WriteRoots...), writes...)
	return dispatch.WithWriteRoots(p, roots)
}

func (a *app) discardCommand() *cobra.Command {
	var yes bool
	var reason, saw string
	c := &cobra.Command{
		Use:   "discard ID",
		Short: "Throw a result away; it stays in the trash for 14 days",
		Long: `Throw away the result of a worker. Its tree moves to the trash and its refs move to
refs/cordon/trash/ID. Both stay there for 14 days; then cordon gc removes them.`,
		Example:           "  cordon discard brisk-otter\n  cordon quarantine discard brisk-otter --yes --reason \"wrong approach\"",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.discard(cmd.Context(), args[0], saw, yes, reason)
		},
	}
	seenFlag(c, &saw)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	return c
}

func (a *app) discard(ctx context.Context, prefix, saw string, yes bool, reason string) error {
	s, w, err := a.worker(ctx, prefix)
	if err != nil {
		return err
	}
	if err := a.saw(ctx, s, w, saw, seen.ForResult, ""); err != nil {
		return err
	}
	status, err := s.Status(ctx, w)
	if err != nil {
		return err
	}
	if status == ledger.ThrownAway || w.Removal != nil {
		return usage("%s is discarded or removed already", w.ID)
	}
	if err := a.confirm(yes, "discard %s (%s%s)?", w.ID, status, present.Because(w, status)); err != nil {
		return err
	}
	if err := keep.Discard(ctx, s.Site, w, ledger.Discard{Who: operator(), Why: reason}); err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Discard{Worker: string(w.ID), Status: string(ledger.ThrownAway)})
	}
	a.print("%s  discarded; in the trash for %d days", w.ID, int(keep.TrashTime.Hours()/24))
	return nil
}

// confirm asks, and takes only yes for yes. Where nobody can be asked it
// refuses.
func (a *app) confirm(yes bool, question string, args ...any) error {
	if yes {
		return nil
	}
	if !terminal.Is(a.in) {
		return usage("there is no terminal to ask on: use --yes")
	}
	fmt.Fprint(a.err, legible.Text(fmt.Sprintf(question, args...))+" [y/N] ")
	line, err := bufio.NewReader(a.typed()).ReadString('\n')
	if err != nil {
		return err
	}
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return usage("not confirmed: nothing was done")
	}
	return nil
}
