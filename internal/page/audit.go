package page

import (
	"fmt"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/terminal"
)

// Report prints an audit, verdict first.
func (p Page) Report(w *ledger.Worker, r *audit.Report) error {
	if p.JSON {
		return p.Object(present.ReportView(r))
	}
	l := w.Lease.Lease()
	p.Print("%s  %s: %d to land, %s", w.ID, r.Verdict, r.Summary.Landing, terminal.Plural(r.Summary.Violations, "violation"))
	p.Print("lease   sha256:%s", r.Lease)
	p.Print("        may write %s (policy: %s)", present.OrNothing(strings.Join(w.Lease.Rules().Roots(), ", ")), l.Source)
	p.Print("base    %s, for %s", r.Base.Short(), present.Branch(l.Target))
	if w.Exit != nil {
		p.Print("command ended with %d (%s)", w.Exit.Code, present.Ended(w))
	}
	for _, class := range []audit.Class{audit.Violation, audit.Landing, audit.Scratch, audit.Ignored, audit.Note} {
		p.class(class, r)
	}
	p.Print("\nhost    %s", r.Host)
	return nil
}

// classTitles say what becomes of each class.
var classTitles = map[audit.Class]string{
	audit.Violation: "OUT: violates the lease",
	audit.Landing:   "IN: may land",
	audit.Scratch:   "scratch: not kept",
	audit.Ignored:   "ignored by the base commit: does not land",
	audit.Note:      "notes",
}

// MaxShown is how many paths of a class are shown; --json has all that are listed.
const MaxShown = 200

func (p Page) class(class audit.Class, r *audit.Report) {
	var rows [][]string
	total := r.More.Of(class)
	for _, f := range r.Findings {
		if f.Class != class {
			continue
		}
		total++
		if len(rows) < MaxShown {
			rows = append(rows, []string{"  " + string(f.Kind), f.Path.String() + arrow(f), f.Rule + where(f)})
		}
	}
	if total == 0 {
		return
	}
	p.Print("\n%s (%d)", classTitles[class], total)
	terminal.Table(p.Out, rows)
	if more := total - len(rows); more > 0 {
		p.Print("  and %d more%s", more, unlisted(r.More.Of(class)))
	}
}

// unlisted says where the findings are that are not shown.
func unlisted(n int) string {
	if n == 0 {
		return ": --json has them all"
	}
	return fmt.Sprintf(", of which %d were counted and not listed: the tree has them", n)
}

func arrow(f audit.Finding) string {
	if f.Target != "" {
		return " -> " + f.Target.String()
	}
	return ""
}

func where(f audit.Finding) string {
	text := ""
	if f.Source != "" {
		text += " [" + f.Source + "]"
	}
	if f.Detail != "" {
		text += " " + f.Detail
	}
	return text
}
