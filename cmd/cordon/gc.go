package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/keep"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) gcCommand() *cobra.Command {
	var yes, dry, wait, sweep, trash, purge bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove what is provably merged or discarded",
		Long: `Remove the trees and refs of workers whose result is an ancestor of the target branch
and whose tree and commits have not changed since, things that have been in the trash
for 14 days, leftovers of interrupted runs, and prepared checkouts that no lease needs.
gc first shows what it would do, and says what it keeps and why.

On a full disk, cordon gc works from space that cordon keeps in reserve. --trash frees
the most space: discarded results otherwise stay in the trash for 14 days.

Deletion runs in the background; --wait waits for it. The next gc removes leftovers.

--purge is for people who stop using cordon here. It removes every ref below refs/cordon
and all state of this repository, results that never landed included. Your branches, your
checkouts and adopted worktrees stay. Nothing brings the rest back.`,
		Example: "  cordon gc --dry-run\n  cordon gc --yes\n  cordon gc --trash --wait\n  cordon gc --purge",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sweep {
				return a.sweep(cmd.Context())
			}
			if purge {
				return a.purge(cmd.Context(), yes, dry)
			}
			return a.gc(cmd.Context(), yes, dry, wait, trash)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	c.Flags().BoolVar(&trash, "trash", false, "also delete what was discarded or released less than 14 days ago")
	c.Flags().BoolVar(&purge, "purge", false, "remove every ref and all state of this repository")
	c.Flags().BoolVar(&wait, "wait", false, "return after everything is deleted")
	c.Flags().BoolVar(&sweep, "sweep", false, "only delete what was put out of the way")
	_ = c.Flags().MarkHidden("sweep") // how gc starts itself
	return c
}

func (a *app) gc(ctx context.Context, yes, dry, wait, trash bool) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	chores, err := keep.Chores(ctx, s.Site, keep.Options{EmptyTrash: trash})
	if err != nil {
		return err
	}
	var freed int64
	var todo []keep.Chore
	for _, c := range chores {
		if !c.Keep {
			todo, freed = append(todo, c), freed+c.Bytes
		}
	}
	shown := view.GC{Chores: present.Each(chores, page.ChoreView), Bytes: freed, Done: !dry}
	if !a.json {
		a.page().Chores(shown.Chores)
	}
	if !dry && len(todo) > 0 {
		if err := a.confirm(yes, "remove %d things, %s?", len(todo), terminal.Size(freed)); err != nil {
			return err
		}
		if err := keep.Do(ctx, todo); err != nil {
			return err
		}
		if err := a.swept(s, wait); err != nil {
			return err
		}
	}
	if a.json {
		return a.object(&shown)
	}
	switch {
	case len(todo) == 0:
		a.say("nothing to remove")
	case dry:
		a.say("%d things, %s: nothing was removed (--dry-run)", len(todo), terminal.Size(freed))
	default:
		a.print("removed %d things, %s", len(todo), terminal.Size(freed))
	}
	return nil
}

// swept sees to it that what was put out of the way is deleted.
func (a *app) swept(s *session.Session, wait bool) error {
	if wait {
		return keep.Sweep(s.Site)
	}
	return keep.SweepLater(a.dir)
}

// sweep deletes what was put out of the way.
func (a *app) sweep(ctx context.Context) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	return keep.Sweep(s.Site)
}
