package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/journal"
	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) journalCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "journal [ID]", Aliases: []string{"log"},
		Short: "Print the journal, or verify it",
		Long: `Print the journal of this repository: every decision, one line each, oldest first.
With ID, print only that worker's events. "cordon journal verify" checks the whole hash
chain, and "cordon journal repair" repairs a damaged journal.`,
		Example:           "  cordon journal\n  cordon journal brisk-otter\n  cordon journal verify",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.journal(cmd.Context(), args)
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check every byte of the journal", Args: cobra.NoArgs, Example: "  cordon journal verify",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.verify(cmd.Context()) },
	})
	c.AddCommand(a.repairCommand())
	return c
}

func (a *app) journal(ctx context.Context, args []string) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	all, err := s.Events()
	if err != nil {
		return err
	}
	only := ""
	if len(args) == 1 {
		if only, err = ledger.Name(all, args[0]); err != nil {
			return usage("%v", err)
		}
	}
	shown := view.Journal{Events: []view.Event{}}
	for _, e := range all {
		if only == "" || e.Worker == only {
			shown.Events = append(shown.Events, view.Event(e))
		}
	}
	if a.json {
		return a.object(&shown)
	}
	for _, e := range shown.Events {
		a.print("%6d  %s  %-16s  %-20s  %s", e.Seq, e.Time.Format(time.RFC3339), e.Worker, e.Type, terminal.Clip(string(e.Data), 100))
	}
	return nil
}

func (a *app) verify(ctx context.Context) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if !s.State.Exists() {
		a.say("there is no journal yet")
		if a.json {
			return a.object(&view.Verify{Sound: true})
		}
		return nil
	}
	r, err := journal.Verify(s.State.Path())
	if err != nil {
		return err
	}
	if a.json {
		return a.verified(r)
	}
	if r.Problem != nil {
		return fmt.Errorf("the journal in %s is damaged: %w (cordon journal repair keeps what is sound and shows what is lost)", s.State.Path(), r.Problem)
	}
	orphans, err := keep.Orphans(ctx, s.Site)
	if len(orphans) > 0 {
		return errors.Join(err, keep.Orphaned(r.Events, orphans))
	}
	if err != nil { // every byte is as it was written, by a version that this one does not understand
		a.say("the chain is sound, but cordon cannot tell whether workers without a lease left files: %v", err)
	}
	a.print("sound: %d events, head %s", r.Events, r.Head)
	if r.Torn {
		a.say("the last append was interrupted; the next one repairs it")
	}
	return nil
}

// verified prints the result of a check as an object.
func (a *app) verified(r journal.Report) error {
	v := view.Verify{Events: r.Events, Last: r.Head, Torn: r.Torn, Sound: r.Problem == nil}
	if r.Problem == nil {
		return a.object(&v)
	}
	damage := view.Damage(*r.Problem)
	v.Problem = &damage
	return cmp.Or(a.object(&v), error(codeError(exitFailed)))
}
