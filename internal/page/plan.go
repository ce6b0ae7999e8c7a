package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// PlanCheck prints what the stages of a plan may do.
func (p Page) PlanCheck(v *view.PlanCheck) error {
	if p.JSON {
		return p.Object(v)
	}
	p.Print("%s: %s for %s, at most %d at once", v.Plan, terminal.Plural(len(v.Stages), "stage"), v.Target, v.Parallel)
	rows := [][]string{{"stage", "kind", "after", "may change", "checks", "result"}}
	for _, s := range v.Stages {
		rows = append(rows, []string{s.ID, s.Kind, present.OrNothing(strings.Join(s.After, ", ")),
			present.OrNothing(strings.Join(s.Writes, ", ")), fmt.Sprint(len(s.Acceptance)), s.Lands})
	}
	terminal.WrappedTable(p.Out, rows)
	if slices.ContainsFunc(v.Stages, func(s view.PlanStage) bool { return s.Lands == view.WaitsForYou && s.Review == "" }) {
		p.Print("cordon plan run --merge lets results land without you, unless a stage has review: person")
	}
	p.Print("critical path: %s", strings.Join(v.Critical, " → "))
	for _, s := range v.Stages {
		if s.Review != "" {
			p.Print("%s is reviewed %s", s.ID, s.Review)
		}
	}
	for _, pair := range v.Pairs {
		p.Print("%s and %s never run at once: both may change %s", pair.A, pair.B, strings.Join(pair.Shared, ", "))
	}
	for _, note := range v.Notes {
		p.Print("%s", note)
	}
	return nil
}

// Plan prints where the stages of a plan stand.
func (p Page) Plan(v *view.Plan) error {
	if p.JSON {
		return p.Object(v)
	}
	p.Print("%s  %s: %d of %s done, for %s", v.Plan, v.State, v.Done, terminal.Plural(v.Total, "stage"), v.Target)
	var rows [][]string
	for _, s := range v.Stages {
		rows = append(rows, []string{"  " + s.ID, s.State, s.Worker, s.Why})
	}
	terminal.WrappedTable(p.Out, rows)
	if len(v.Critical) > 0 {
		p.Print("critical path: %s", strings.Join(v.Path(time.Now()), " → "))
	}
	if text := usedBy(v.Stages); text != "" {
		p.Print("used so far, as the clients say: %s", text)
	}
	for _, s := range v.Stages {
		for _, t := range s.Truths {
			if t.Answer != "" {
				p.Print("%s: %s", s.ID, answered(t))
			}
		}
		for _, o := range s.Reviews {
			p.Print("%s: %s", s.ID, opined(o))
		}
	}
	for _, s := range v.Stages {
		if s.Next != "" {
			p.Print("%s needs you (%s): %s", s.ID, s.Need, s.Next)
		}
	}
	return nil
}

// usedBy is what the clients of all stages say that they used; "": nothing.
func usedBy(stages []view.StageNow) string {
	var tokens int64
	var cost float64
	for _, s := range stages {
		tokens, cost = tokens+s.Tokens, cost+s.Cost
	}
	var parts []string
	if tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", tokens))
	}
	if cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", cost))
	}
	return strings.Join(parts, ", ")
}

// answered says who said what about a claim.
func answered(t view.Truth) string {
	who := t.Who
	if t.By == "agent" {
		who = "the agent " + t.Who + ", as evidence"
	}
	text := fmt.Sprintf("truth %d: %s (%s: %s", t.Number, legible.Line(t.Claim), t.Answer, who)
	if t.Why != "" {
		text += ": " + legible.Line(t.Why)
	}
	return text + ")"
}

// opined says who said what about a result.
func opined(o view.Opinion) string {
	who := o.Who
	if o.By == "agent" {
		who = "the agent " + o.Who + ", as evidence"
	}
	text := fmt.Sprintf("review: %s (%s", o.Verdict, who)
	if o.Text != "" {
		text += ": " + legible.Line(o.Text)
	}
	return text + ")"
}

// Plans prints a list of plans.
func (p Page) Plans(v *view.Plans) error {
	if p.JSON {
		return p.Object(v)
	}
	var rows [][]string
	for _, s := range v.Plans {
		needs := ""
		if s.Needs > 0 {
			needs = terminal.Plural(s.Needs, "stage") + " need you"
		}
		rows = append(rows, []string{s.Plan, s.State, fmt.Sprintf("%d of %d", s.Done, s.Total), needs})
	}
	if len(rows) == 0 {
		p.Say("no plan was run here: cordon plan run FILE starts one")
		return nil
	}
	terminal.Table(p.Out, rows)
	return nil
}
