package conduct

import (
	"cmp"
	"context"
	"slices"

	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// Item is a stage of an open plan that needs a person.
type Item struct {
	Run    *ledger.PlanRun
	Blocks int // how many stages wait for it
	plan.Standing
}

// Attention are the stages of all open plans that need a person: those first that most others
// wait for, then the oldest. Nothing of it is stored.
func Attention(ctx context.Context, site *worksite.Site) ([]Item, error) {
	open, err := Reports(ctx, site, func(p *ledger.PlanRun) bool { return p.Closed == nil })
	if err != nil {
		return nil, err
	}
	var list []Item
	for _, report := range open {
		blocks := report.Plan.Blocks()
		for _, st := range report.Plan.Attention(report.All) {
			list = append(list, Item{Run: report.Run, Blocks: blocks[st.Stage.ID], Standing: st})
		}
	}
	slices.SortStableFunc(list, func(a, b Item) int {
		if c := cmp.Compare(b.Blocks, a.Blocks); c != 0 {
			return c
		}
		return a.Since.Compare(b.Since)
	})
	return list, nil
}

// Reports looks at all plans that are wanted, in the order in which they were opened. A plan
// that was run again is there once. Git is asked about the workers of all of them at once.
func Reports(ctx context.Context, site *worksite.Site, wanted func(*ledger.PlanRun) bool) ([]Report, error) {
	if err := site.Follow(); err != nil {
		return nil, err
	}
	now, err := site.Ledger()
	if err != nil {
		return nil, err
	}
	runs := slices.DeleteFunc(slices.Clone(now.Plans), func(p *ledger.PlanRun) bool { return now.Plan(p.Plan) != p || !wanted(p) })
	staged := slices.DeleteFunc(slices.Clone(now.Workers), func(w *ledger.Worker) bool {
		return !slices.ContainsFunc(runs, func(p *ledger.PlanRun) bool { return w.Stage != nil && w.Stage.Plan == p.Plan && w.Stage.Run == p.Run })
	})
	if _, err := site.Standings(ctx, staged); err != nil { // the site remembers the answers
		return nil, err
	}
	var list []Report
	for _, p := range runs {
		report, err := Look(ctx, site, p.Plan)
		if err != nil {
			return nil, err
		}
		list = append(list, report)
	}
	return list, nil
}
