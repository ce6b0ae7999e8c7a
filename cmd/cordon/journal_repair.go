package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/keep"
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
		return a.page().RepairObject(plan, false)
	}
	a.page().Repair(plan)
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
		return a.page().RepairObject(plan, true)
	}
	a.print("repaired: cordon ls shows what there is")
	return nil
}
