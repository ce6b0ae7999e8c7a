package page

import (
	"fmt"
	"strings"

	"cordon/internal/keep"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// ChoreView is a chore of gc as an object.
func ChoreView(c keep.Chore) view.Chore {
	return view.Chore{Worker: string(c.Worker), What: c.What, Why: c.Why, Bytes: c.Bytes, Keep: c.Keep}
}

// Chores says what gc would remove or keep.
func (p Page) Chores(chores []view.Chore) {
	var rows [][]string
	for _, c := range chores {
		word := "remove"
		if c.Keep {
			word = "keep"
		}
		whose := ""
		if c.Worker != "" {
			whose = c.Worker + ": "
		}
		rows = append(rows, []string{word, terminal.Size(c.Bytes), fmt.Sprintf("%s%s (%s)", whose, c.What, c.Why)})
	}
	terminal.Table(p.Err, rows)
}

// Purge says what gc --purge would remove, and which work would be lost.
func (p Page) Purge(all keep.Purge) {
	p.Say("%s below refs/cordon, and %s in %s", terminal.Plural(len(all.Refs), "ref"), terminal.Size(all.Bytes), all.Path)
	switch {
	case all.Problem != nil:
		p.Say("the journal cannot be read (%v), so cordon cannot tell whether work would be lost", all.Problem)
	case len(all.Unlanded) == 0:
		p.Say("%s; all work has landed or was discarded", terminal.Plural(all.Workers, "worker"))
	default:
		p.Say("%s; the work of %s has not landed and would be lost: %s",
			terminal.Plural(all.Workers, "worker"), terminal.Plural(len(all.Unlanded), "worker"), strings.Join(present.Texts[string](all.Unlanded), ", "))
	}
}

// RepairObject prints the repair of a journal as an object.
func (p Page) RepairObject(r *keep.Repair, done bool) error {
	problem := ""
	if r.Remains.Problem != nil {
		problem = r.Remains.Problem.Error()
	}
	return p.Object(&view.Repair{Kept: r.Remains.Events, Problem: problem, Workers: present.Each(r.Fates, fateView), Done: done})
}

func fateView(f keep.Fate) view.Fate {
	return view.Fate{Worker: string(f.Worker), What: f.What, Why: f.Why}
}

// Repair says what the repair of a journal keeps and loses.
func (p Page) Repair(r *keep.Repair) {
	if r.Remains.Problem != nil {
		p.Say("damaged: %s", r.Remains.Problem)
		p.Say("kept: %d sound events; lost: everything after them; the damaged files stay as evidence", r.Remains.Events)
	}
	var rows [][]string
	for _, f := range present.Each(r.Fates, fateView) {
		rows = append(rows, []string{f.Worker, f.What, f.Why})
	}
	terminal.Table(p.Err, rows)
}
