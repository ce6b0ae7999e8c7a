package page

import (
	"fmt"
	"strings"

	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Reached prints what a worker tried to reach. altered says that the record is not the one
// that the journal has the digest of.
func (p Page) Reached(w *ledger.Worker, list []view.Attempt, t record.Tally, altered bool) {
	if altered {
		p.Say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	if len(list) == 0 {
		p.Say("%s", present.NothingReached(w))
		return
	}
	room := terminal.Width(p.Out)
	for _, r := range list {
		for _, line := range present.ReachedLines(r, room) {
			p.Print("%s", line)
		}
	}
	p.Tally(w, t)
}

// Tally tells what a worker tried in a few lines.
func (p Page) Tally(w *ledger.Worker, t record.Tally) {
	for _, line := range append(t.Lines(), present.OwnNames(w, t)...) {
		p.Say("  %s", legible.Line(line))
	}
}

// Suggestion prints what a worker was refused as lines for its policy. What was
// refused is what the worker asked for: a person has to read it.
func (p Page) Suggestion(w *ledger.Worker, t record.Tally) error {
	names, ports := present.Suggestion(t)
	if p.JSON {
		return p.Object(&view.Suggestion{Worker: string(w.ID), Domains: names, Ports: ports})
	}
	if len(names)+len(ports) == 0 {
		p.Say("%s was refused nothing that a policy could allow", w.ID)
		return nil
	}
	p.Print("network:")
	if len(names) > 0 {
		p.Print("  allowed_domains:")
	}
	for _, entry := range names {
		note := ""
		if preset := target.PresetOf(entry); preset != "" {
			note = " # part of " + preset
		}
		p.Print("    - %s%s", record.Quoted(entry), note)
	}
	if len(ports) > 0 {
		p.Print("  host_ports: %s", strings.ReplaceAll(fmt.Sprint(ports), " ", ", "))
	}
	p.Say("the worker chose these, and each would be a way out for what it reads: add those that you know")
	return nil
}
