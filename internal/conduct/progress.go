package conduct

import (
	"context"
	"time"

	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// Pace is what the journal says about the time and the cost of a stage.
type Pace struct {
	Worker *ledger.Worker // the last one
	Began  time.Time      // the first one was leased
	Took   time.Duration  // until the last event of the last one
	// Cost is in US dollars, as the clients of its workers reported it; 0: none did.
	Cost float64
}

// Progress says where a plan stands, and how long its stages have taken.
func Progress(ctx context.Context, site *worksite.Site, name string) (Report, map[string]Pace, error) {
	report, err := Look(ctx, site, name)
	if err != nil {
		return report, nil, err
	}
	now, err := site.Ledger()
	if err != nil {
		return report, nil, err
	}
	paces := map[string]Pace{}
	for _, w := range now.Workers {
		s := w.Stage
		if s == nil || s.Plan != report.Run.Plan || s.Run != report.Run.Run {
			continue
		}
		p := paces[s.Stage]
		if p.Worker == nil {
			p.Began = w.Created
		}
		p.Worker, p.Took = w, w.Changed.Sub(p.Began)
		if w.Stream != nil {
			p.Cost += w.Stream.Cost
		}
		paces[s.Stage] = p
	}
	return report, paces, nil
}

// Left is the chain of stages that is expected to take longest from now on, and how long. A stage
// is expected to take as long as those that are done took on average; while none is done, nothing is
// known and the duration is 0.
func (r Report) Left(paces map[string]Pace, now time.Time) ([]string, time.Duration) {
	total, n := time.Duration(0), 0
	for _, st := range r.All {
		if p, ok := paces[st.Stage.ID]; ok && st.State == plan.StageDone {
			total, n = total+p.Took, n+1
		}
	}
	if n == 0 {
		chain, _ := r.Plan.Left(r.All, nil)
		return chain, 0
	}
	mean := max(total/time.Duration(n), time.Second)
	return r.Plan.Left(r.All, func(st plan.Standing) time.Duration {
		if p, ok := paces[st.Stage.ID]; ok && st.State == plan.StageRunning {
			return max(mean-now.Sub(p.Began), time.Second) // nobody knows about one that takes longer
		}
		return mean
	})
}
