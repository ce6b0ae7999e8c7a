package page

import (
	"fmt"
	"strings"

	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// factMarks say how a fact is to be taken, also where there are no colours.
var factMarks = map[string]string{view.FactGood: "✓", view.FactBad: "✗", view.FactNote: "!", view.FactNone: "-"}

// Review prints a result for review: the verdict, the facts, the reasons, the changes, and what can
// be decided.
func (p Page) Review(v *view.Review) error {
	if p.JSON {
		return p.Object(v)
	}
	p.Print("%s  %s\n%s\n\n%s", v.Worker, v.Status, v.Title, v.Verdict)
	if v.Says != "" {
		p.Print("it says: %s", v.Says)
	}
	p.Print("")
	for _, f := range v.Facts {
		p.Print("  %s %-11s %s", factMarks[f.State], f.Name, f.Text)
	}
	for _, line := range v.Unread {
		p.Print("  ✗ cannot be read: %s", line)
	}
	p.reasons(v)
	p.changes(v)
	p.acceptance(v.Acceptance)
	p.denied(v)
	p.choices(v)
	return nil
}

func (p Page) reasons(v *view.Review) {
	if v.Why != nil {
		p.Print("\nWHY\n  %s %s", factMarks[v.Why.State], v.Why.Text)
		return
	}
	p.Print("\nWHY (%d)", len(v.Reasons))
	for i, b := range v.Reasons {
		if i == MaxShown {
			p.Print("  and %d more: --json has them all", len(v.Reasons)-i)
			return
		}
		p.Print("  ✗ %s", b.What)
		if b.Setting != "" {
			p.Print("      %s, %s", b.Setting, b.Policy)
		}
		if b.Evidence != "" {
			p.Print("      %s", b.Evidence)
		}
	}
}

func (p Page) changes(v *view.Review) {
	if len(v.Changes) == 0 && v.More == nil {
		return
	}
	p.Print("\nCHANGES (%d)", len(v.Changes))
	var rows [][]string
	for i, c := range v.Changes {
		if i == MaxShown {
			break
		}
		mark := "✓"
		switch {
		case !c.Inside:
			mark = "✗"
		case !c.Lands:
			mark = "-"
		}
		rows = append(rows, []string{"  " + mark + " " + c.Kind, c.Shown, c.Rule})
	}
	terminal.Table(p.Out, rows)
	if more := len(v.Changes) - len(rows); more > 0 {
		p.Print("  and %d more: --json has them all", more)
	}
	if n := v.More; n != nil {
		p.Print("  and %d that the audit counted and did not list", n.Landing+n.Violations+n.Ignored+n.Scratch+n.Notes)
	}
}

// acceptance prints what the acceptance commands said. Each line of a worker's is marked.
func (p Page) acceptance(list []view.Acceptance) {
	if len(list) > 0 {
		p.Print("\nACCEPTANCE")
	}
	for _, c := range list {
		how := fmt.Sprintf("ended with %d", c.Code)
		if c.Ended != "" {
			how = c.Ended
		}
		if n := len(c.Names); n > 0 {
			how += "; it names " + terminal.Plural(n, "file") + " that the result changes"
		}
		p.Print("  %q %s", c.Command, how)
		if c.Code == 0 && c.Ended == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimRight(c.Output, "\n"), "\n") {
			p.Print("  | %s", line)
		}
	}
}

// denied prints what the guard and the network refused.
func (p Page) denied(v *view.Review) {
	if len(v.Denied) > 0 {
		p.Print("\nGUARD: calls that were not simply allowed (%d)", len(v.Denied))
	}
	for _, d := range v.Denied {
		p.Print("  %s  %s  %s", d.Time.Local().Format("15:04:05"), d.Verdict, terminal.Clip(legible.Line(d.Tool+" "+d.Input), 110))
		p.Print("            %s", terminal.Clip(legible.Line(d.Reason), 110))
	}
	if len(v.Refused) > 0 {
		p.Print("\nNETWORK: connections that did not come about (%d)", len(v.Refused))
	}
	for _, r := range v.Refused {
		for _, line := range present.ReachedLines(r, terminal.Width(p.Out)) {
			p.Print("  %s", line)
		}
	}
}

// choices prints what can be decided, and what each decision is about.
func (p Page) choices(v *view.Review) {
	if len(v.Choices) == 0 {
		return
	}
	p.Print("\nDECIDE")
	for _, c := range v.Choices {
		p.Print("  %s\n      %s\n      %s", c.Name, c.Command, c.Does)
	}
	d := v.Digests
	p.Print("\nThis is about the lease %s%s%s%s.", brief(d.Lease), named(", the audit ", d.Audit), named(", the result ", d.Result),
		named(" and "+present.Branch(d.Target)+" at ", d.Tip))
}

func named(words, digest string) string {
	if digest == "" {
		return ""
	}
	return words + brief(digest)
}

// brief is the beginning of a digest.
func brief(digest string) string { return digest[:min(len(digest), 12)] }
