package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/keep"
	"cordon/internal/lease"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) repairCommand() *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{
		Use:   "repair",
		Short: "Repair a journal that was damaged or removed",
		Long: `Keep the sound part of a damaged journal, and recover what cordon's own refs and files
still prove. The damaged files stay next to the journal as evidence. A repair lands
nothing: workers whose events or lease may be lost are quarantined, with their files as
the result. The repair is recorded in the journal.

It first shows what it would do, and asks.`,
		Example: "  cordon journal repair --dry-run\n  cordon journal repair --yes",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.repair(cmd.Context(), yes, dry) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	return c
}

func (a *app) repair(ctx context.Context, yes, dry bool) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if !s.State.Exists() {
		a.say("there is no journal yet")
		return nil
	}
	plan, err := keep.PlanRepair(ctx, s.Site)
	if err != nil {
		return err
	}
	if a.json && dry {
		return a.repairObject(plan, false)
	}
	a.showRepair(plan)
	if !plan.Needed() {
		a.say("nothing to repair")
		return nil
	}
	if dry {
		a.say("nothing was changed (--dry-run)")
		return nil
	}
	if err := a.confirm(yes, "repair the journal like this?"); err != nil {
		return err
	}
	if err := s.Repair(ctx, plan, operator()); err != nil {
		return err
	}
	if a.json {
		return a.repairObject(plan, true)
	}
	a.print("repaired: cordon ls shows what there is")
	return nil
}

func (a *app) repairObject(p *keep.Repair, done bool) error {
	problem := ""
	if p.Remains.Problem != nil {
		problem = p.Remains.Problem.Error()
	}
	return a.object(&view.Repair{Kept: p.Remains.Events, Problem: problem, Workers: present.Each(p.Fates, fateView), Done: done})
}

func fateView(f keep.Fate) view.Fate {
	return view.Fate{Worker: string(f.Worker), What: f.What, Why: f.Why}
}

func (a *app) showRepair(p *keep.Repair) {
	if p.Remains.Problem != nil {
		a.say("damaged: %s", p.Remains.Problem)
		a.say("kept: %d sound events; lost: everything after them; the damaged files stay as evidence", p.Remains.Events)
	}
	var rows [][]string
	for _, f := range present.Each(p.Fates, fateView) {
		rows = append(rows, []string{f.Worker, f.What, f.Why})
	}
	terminal.Table(a.err, rows)
}

// orphaned is a journal that knows nothing of workers that left something.
func orphaned(events int, ids []lease.ID) error {
	if len(ids) == 0 {
		return nil
	}
	var names []string
	for _, id := range ids {
		names = append(names, string(id))
	}
	return fmt.Errorf("the journal has %d events and no lease of %s, which left files or results (cordon journal repair recovers them)", events,
		strings.Join(names, ", "))
}
