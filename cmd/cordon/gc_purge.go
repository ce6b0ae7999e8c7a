package main

import (
	"context"
	"strings"

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
	a.sayPurge(p)
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

// sayPurge says what would be lost.
func (a *app) sayPurge(p keep.Purge) {
	a.say("%s below refs/cordon, and %s in %s", terminal.Plural(len(p.Refs), "ref"), terminal.Size(p.Bytes), p.Path)
	switch {
	case p.Problem != nil:
		a.say("the journal cannot be read (%v), so cordon cannot tell whether work would be lost", p.Problem)
	case len(p.Unlanded) == 0:
		a.say("%s; all work has landed or was discarded", terminal.Plural(p.Workers, "worker"))
	default:
		var names []string
		for _, id := range p.Unlanded {
			names = append(names, string(id))
		}
		a.say("%s; the work of %s has not landed and would be lost: %s",
			terminal.Plural(p.Workers, "worker"), terminal.Plural(len(names), "worker"), strings.Join(names, ", "))
	}
}
