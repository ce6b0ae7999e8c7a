package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/launch"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// reached prints what a worker tried to reach.
func (a *app) reached(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	shown := view.Network{Worker: string(w.ID), Decisions: []view.Attempt{}}
	t, err := s.Reached(w, func(r record.Record) { shown.Decisions = append(shown.Decisions, present.AttemptView(r)) })
	if err != nil {
		return err
	}
	if a.json {
		shown.Tally = *present.TallyView(&t)
		return a.object(&shown)
	}
	altered, err := s.Altered(ctx, w, t)
	if err != nil {
		return err
	}
	if altered {
		a.say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	if len(shown.Decisions) == 0 {
		a.say("%s", present.NothingReached(w))
		return nil
	}
	room := terminal.Width(a.out)
	for _, r := range shown.Decisions {
		for _, line := range present.ReachedLines(r, room) {
			a.print("%s", line)
		}
	}
	a.sayLines(t)
	return nil
}

// sayLines tells what was tried in a few lines.
func (a *app) sayLines(t record.Tally) {
	for _, line := range t.Lines() {
		a.say("  %s", legible.Line(line))
	}
}

// suggest prints what a worker was refused as lines for its policy. What was
// refused is what the worker asked for: a person has to read it.
func (a *app) suggest(s *session.Session, w *ledger.Worker) error {
	t, err := s.Reached(w, nil)
	if err != nil {
		return err
	}
	names, ports := present.Suggestion(t)
	if a.json {
		return a.object(&view.Suggestion{Worker: string(w.ID), Domains: names, Ports: ports})
	}
	if len(names)+len(ports) == 0 {
		a.say("%s was refused nothing that a policy could allow", w.ID)
		return nil
	}
	a.print("network:")
	if len(names) > 0 {
		a.print("  allowed_domains:")
	}
	for _, entry := range names {
		note := ""
		if preset := target.PresetOf(entry); preset != "" {
			note = " # part of " + preset
		}
		a.print("    - %s%s", record.Quoted(entry), note)
	}
	if len(ports) > 0 {
		a.print("  host_ports: %s", strings.ReplaceAll(fmt.Sprint(ports), " ", ", "))
	}
	a.say("the worker chose these, and each would be a way out for what it reads: add those that you know")
	return nil
}

// sayReached tells at the end of a run what the worker tried to reach, and what to
// write into the policy to let the rest pass.
func (a *app) sayReached(s *session.Session, before, after *ledger.Worker) {
	t := launch.TriedSince(s.Site, before)
	if t == nil {
		return
	}
	a.sayLines(*t)
	names, ports := present.Suggestion(*t)
	if after != nil && after.Quarantine != nil && len(names)+len(ports) > 0 {
		a.say("  (the worker chose these, and it is in quarantine: allow only what you know)")
	}
}

// sayUnreached tells of a command that failed what it may have missed: a worker's, or
// the one of setup that err is about.
func (a *app) sayUnreached(before, w *ledger.Worker, err error) {
	hint, p := "", before.Lease.Lease().Policy
	var setup *launch.SetupError
	switch {
	case errors.As(err, &setup):
		hint = cellnet.Unreached(p, setup.Layers, setup.Exit)
	case err == nil && w.Start != nil && w.Exit != nil:
		hint = cellnet.Unreached(p, w.Start.Layers, *w.Exit)
	}
	if hint != "" {
		a.say("  %s", hint)
	}
}
