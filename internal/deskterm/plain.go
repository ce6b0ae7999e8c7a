package deskterm

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"cordon/internal/desk"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// Plain prints the desk as lines, for screen readers and terminals that cannot move their cursor. It draws
// nothing again: first everything, and then each change as a line of its own. It ends with ctx, or at once
// if it is not to follow.
func Plain(ctx context.Context, out io.Writer, source Source, clock func() time.Time, follow bool) error {
	d, err := source.Desk(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, plainDesk(d, clock())+plainFleet(ctx, d, source, clock())); err != nil || !follow {
		return err
	}
	changes, err := source.Changes(ctx)
	if err != nil {
		return err
	}
	said := saidOf(d)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		case <-time.After(freshen * tick):
		}
		if d, err = source.Desk(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		for _, w := range d.Workers {
			if text := spoken(w); said[w.ID] != text {
				said[w.ID] = text
				if _, err := fmt.Fprintf(out, "%s %s\n", clock().Format("15:04"), text); err != nil {
					return err
				}
			}
		}
	}
}

// plainDesk is everything in lines.
func plainDesk(d *Desk, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, branch %s. %s.\n", legible.Line(d.Repository), legible.Line(d.Branch), needing(d.needs()))
	for _, g := range groups {
		list := d.of(g.name)
		if g.name == view.Over || len(list) == 0 && (g.name != view.NeedsYou || len(d.loose()) == 0) {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", strings.ToLower(g.title))
		for _, s := range d.loose() {
			if g.name == view.NeedsYou {
				fmt.Fprintf(&b, "stage %s of plan %s: %s. Next: %s\n", legible.Line(s.Stage), legible.Line(s.Plan), legible.Line(s.Why), legible.Line(s.Next))
			}
		}
		for _, w := range list {
			if g.name == view.Landed && now.Sub(w.Since) >= 24*time.Hour {
				continue
			}
			fmt.Fprintf(&b, "%s, since %s.", spoken(w), ago(now, w.Since))
			if len(w.Next) > 0 && g.name == view.NeedsYou {
				fmt.Fprintf(&b, " Next: %s", legible.Line(w.Next[0]))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// plainFleet is the fleet in lines, where there is one.
func plainFleet(ctx context.Context, d *Desk, source Source, now time.Time) string {
	if !d.Home {
		return ""
	}
	f, err := source.Fleet(ctx)
	if err != nil {
		return "\nfleet: " + legible.Line(err.Error()) + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nfleet: %s.\n", counted(len(f.Nodes), "node"))
	for _, n := range f.Nodes {
		fmt.Fprintf(&b, "%s: %s, %s", legible.Line(n.Name), legible.Line(n.State), counted(len(n.Holds), "stage"))
		if n.Heard != nil {
			fmt.Fprintf(&b, ", heard %s ago", ago(now, *n.Heard))
		}
		b.WriteString(".\n")
	}
	for _, w := range f.Waiting {
		fmt.Fprintf(&b, "%s waits for a node: %s.\n", legible.Line(w.Worker), legible.Line(w.Why))
	}
	return b.String()
}

// spoken is a worker as a sentence.
func spoken(w view.Worker) string {
	text := legible.Line(w.ID + ": " + desk.State(w))
	if why := desk.Why(w); why != "" && w.Group == view.NeedsYou {
		text += ", " + strings.TrimRight(legible.Line(why), ".")
	}
	return text
}

func saidOf(d *Desk) map[string]string {
	said := map[string]string{}
	for _, w := range d.Workers {
		said[w.ID] = spoken(w)
	}
	return said
}
