package present

import (
	"cmp"
	"slices"
	"time"

	"cordon/internal/conduct"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// Progress is a plan that runs, for one screen.
type Progress struct {
	Plan        string
	Done, Total int
	Opened      time.Time
	Cost        float64       // in US dollars, as clients report it; 0: none does
	Chain       []string      // the stages that are expected to take longest
	Rest        time.Duration // how long they are expected to take; 0: nobody knows
	Stages      []StageLine   // those first that a person would look at first
	Next        string        // the command that helps the first stage that needs a person
	Lines       []string      // what happened last
}

// StageLine is a stage on that screen.
type StageLine struct {
	ID, State, Worker string
	Doing             string    // what its worker does, or why it does not run. It may have a worker's words
	Since             time.Time // zero: it has not begun
	Took              time.Duration
}

// urgency is the order of the states on a screen.
var urgency = []plan.State{
	plan.StageNeeds, plan.StageRunning, plan.StageReady, plan.StageBlocked, plan.StageWaiting, plan.StageDone, plan.StageSkipped,
}

// PlanProgress is where a plan stands that runs.
func PlanProgress(site *worksite.Site, r conduct.Report, paces map[string]conduct.Pace, now time.Time) Progress {
	v := Progress{Plan: r.Run.Plan, Total: len(r.All), Opened: r.Run.Opened}
	v.Chain, v.Rest = r.Left(paces, now)
	for _, st := range urgent(r) {
		p := paces[st.Stage.ID]
		v.Cost += p.Cost
		if st.Settled() {
			v.Done++
		}
		if next := stageNext(r.Run, st); next != "" && v.Next == "" {
			v.Next = next
		}
		v.Stages = append(v.Stages, stageLine(site, r, st, p))
	}
	return v
}

// urgent are the stages as a person wants to see them: those that need somebody, those that run,
// those that will, and what was done, the latest first.
func urgent(r conduct.Report) []plan.Standing {
	attention := r.Plan.Attention(r.All)
	rank := map[string]int{}
	for i, st := range attention {
		rank[st.Stage.ID] = i
	}
	list := slices.Clone(r.All)
	slices.SortStableFunc(list, func(a, b plan.Standing) int {
		if c := cmp.Compare(slices.Index(urgency, a.State), slices.Index(urgency, b.State)); c != 0 {
			return c
		}
		if a.State == plan.StageDone {
			return b.Since.Compare(a.Since)
		}
		return cmp.Compare(rank[a.Stage.ID], rank[b.Stage.ID])
	})
	return list
}

func stageLine(site *worksite.Site, r conduct.Report, st plan.Standing, p conduct.Pace) StageLine {
	line := StageLine{ID: st.Stage.ID, State: string(st.State), Worker: st.Worker, Doing: st.Why, Since: st.Since}
	switch {
	case p.Worker != nil && st.State == plan.StageRunning:
		line.Worker, line.Since = string(p.Worker.ID), p.Began
		line.Doing = activity(site, p.Worker, p.Worker.Status(ledger.Facts{Held: true}))
	case st.State == plan.StageDone:
		line.Took = p.Took
	case line.Doing == "":
		line.Doing = r.Wait[st.Stage.ID]
	}
	return line
}
