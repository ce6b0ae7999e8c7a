package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// reasons are everything that keeps a result from landing. What the audit found has its rule and
// its evidence; the rest is what the journal says.
func (r *caseOf) reasons() (list []view.Breach) {
	for _, x := range r.wrong {
		told := map[string]bool{}
		for _, f := range x.Found() {
			told[worksite.Line(f)] = true
			list = append(list, r.breach(x.Cause, f))
		}
		for _, line := range x.Lines {
			if told[line] || len(told) > 0 && strings.HasPrefix(line, "and ") {
				continue
			}
			b := view.Breach{Cause: string(x.Cause), What: legible.Line(line)}
			if x.Cause == ledger.FailedAcceptance {
				b.Origin = r.laws.acceptance()
			}
			list = append(list, b)
		}
	}
	return list
}

func (r *caseOf) breach(cause ledger.Cause, f audit.Finding) view.Breach {
	return view.Breach{
		Cause: string(cause), What: legible.Line(worksite.Line(f)), Path: view.Text(f.Path), Kind: string(f.Kind), Rule: legible.Line(f.Rule),
		Evidence: evidence(f), Origin: r.laws.origin(f.Rule),
	}
}

// evidence is what was found at a path.
func evidence(f audit.Finding) string {
	var words []string
	switch old, now := f.Old.OID, f.New.OID; {
	case old != "" && now != "" && old != now:
		words = append(words, fmt.Sprintf("%s instead of %s", now.Short(), old.Short()))
	case now != "" && old == "":
		words = append(words, now.Short()+" was not there")
	case old != "" && now == "":
		words = append(words, old.Short()+" is gone")
	}
	if o, n := f.Old.Mode.String(), f.New.Mode.String(); f.Old.OID != "" && f.New.OID != "" && o != n {
		words = append(words, fmt.Sprintf("mode %s instead of %s", n, o))
	}
	if f.Target != "" {
		words = append(words, "leads to "+f.Target.String())
	}
	if f.SHA256 != "" {
		words = append(words, "sha256:"+f.SHA256)
	}
	if f.Source != "" {
		words = append(words, "in "+f.Source)
	}
	if f.Detail != "" {
		words = append(words, f.Detail)
	}
	return legible.Line(strings.Join(words, ", "))
}

// changes are the findings of the audit, those first that a person has to decide about.
func (r *caseOf) changes() (list []view.Change) {
	if r.report == nil {
		return nil
	}
	order := []audit.Class{audit.Violation, audit.Landing, audit.Note, audit.Ignored, audit.Scratch}
	found := slices.Clone(r.report.Findings)
	slices.SortStableFunc(found, func(a, b audit.Finding) int { return cmp.Compare(rank(order, a.Class), rank(order, b.Class)) })
	for _, f := range found {
		list = append(list, view.Change{
			Finding: findingView(f), Shown: legible.Text(f.Path.String()), Lands: f.Class == audit.Landing, Inside: rank(order, f.Class) > 0,
			Origin: r.laws.origin(f.Rule),
		})
	}
	return list
}

// rank is the place of a class; one that is not known is a violation.
func rank(order []audit.Class, c audit.Class) int { return max(slices.Index(order, c), 0) }
