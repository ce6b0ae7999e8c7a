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
	now, err := site.Ledger()
	if err != nil {
		return nil, err
	}
	var list []Item
	for _, p := range now.Plans {
		if p.Closed != nil {
			continue
		}
		report, err := Look(ctx, site, p.Plan)
		if err != nil {
			return nil, err
		}
		for _, st := range report.Plan.Attention(report.All) {
			list = append(list, Item{Run: report.Run, Blocks: report.Plan.Blocks(st.Stage.ID), Standing: st})
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
