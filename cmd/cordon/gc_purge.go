package main

import (
	"context"

	"cordon/internal/keep"
	"cordon/internal/terminal"
)

// purge removes everything that cordon keeps of this repository, after a question.
func (a *app) purge(ctx context.Context, yes, dry bool) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	p, err := keep.Purgeable(ctx, s.Site)
	if err != nil {
		return err
	}
	if len(p.Refs) == 0 && !s.State.Exists() {
		a.say("cordon keeps nothing of this repository")
		return nil
	}
	a.page().Purge(p)
	if dry {
		a.say("nothing was removed (--dry-run)")
		return nil
	}
	if err := a.confirm(yes, "remove all of it for good?"); err != nil {
		return err
	}
	if err := keep.PurgeAll(ctx, s.Site, p); err != nil {
		return err
	}
	a.print("removed %s and %s", terminal.Plural(len(p.Refs), "ref"), p.Path)
	return nil
}
