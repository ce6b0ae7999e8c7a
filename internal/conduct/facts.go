package conduct

import (
	"context"
	"slices"

	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// factsOf is what the journal, the branches and the locks say about the stages of a plan.
func factsOf(ctx context.Context, site *worksite.Site, now *ledger.Ledger, run *ledger.PlanRun) (map[string]plan.Fact, error) {
	byStage := now.StageWorkers(run)
	var all []*ledger.Worker
	for _, list := range byStage {
		all = append(all, list...)
	}
	standings, err := site.Standings(ctx, all)
	if err != nil {
		return nil, err
	}
	facts := map[string]plan.Fact{}
	for stage, list := range byStage {
		f := facts[stage]
		for _, w := range list {
			f.Tries = append(f.Tries, tries(w, standings[w.ID].Status)...)
		}
		facts[stage] = f
	}
	for stage, v := range run.Skipped {
		f := facts[stage]
		f.Skipped = said("skipped", v)
		facts[stage] = f
	}
	for stage, v := range run.Accepted {
		f := facts[stage]
		f.Accepted = said("accepted", v)
		facts[stage] = f
	}
	for stage, n := range run.Again {
		f := facts[stage]
		f.Again = n
		facts[stage] = f
	}
	for stage, answers := range run.Answers {
		f := facts[stage]
		f.Answers = map[string]bool{}
		for claim, a := range answers {
			f.Answers[claim] = a.Yes
		}
		facts[stage] = f
	}
	return facts, nil
}

func said(word string, v ledger.Verdict) string {
	text := word + " by " + v.Who
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// tries are the tries of one worker: each attempt that was judged in vain, each failure, and
// how it stands now.
func tries(w *ledger.Worker, status ledger.Status) []plan.Try {
	now := plan.Try{Worker: string(w.ID), Ending: ending(w, status), Why: why(w), Since: w.Changed}
	failures := w.Failures
	if now.Ending == plan.Failed {
		failures--
	}
	list := slices.Repeat([]plan.Try{{Worker: now.Worker, Ending: plan.Failed}}, max(0, failures))
	list = append(list, slices.Repeat([]plan.Try{{Worker: now.Worker, Ending: plan.Rejected}}, w.Attempts)...)
	return append(list, now)
}

// ending says how far a worker has come.
func ending(w *ledger.Worker, status ledger.Status) plan.Ending {
	switch status {
	case ledger.MergedIn, ledger.NoChange:
		return plan.Landed
	case ledger.Running, ledger.Gating:
		return plan.Running
	case ledger.Failed:
		return plan.Failed
	case ledger.Asking:
		if len(w.Open()) == 0 {
			return plan.Interrupted // it was answered
		}
		return plan.Asking
	case ledger.InReview:
		return plan.NeedReview
	case ledger.Conflicted:
		return plan.Conflicted
	case ledger.WaitingFor:
		return plan.Waiting
	case ledger.ThrownAway:
		return plan.Discarded
	case ledger.InQuarantine:
		if w.Quarantine != nil && slices.Equal(w.Quarantine.Causes, []ledger.Cause{ledger.FailedAcceptance}) {
			return plan.Rejected
		}
		return plan.Violating
	case ledger.Finished:
		if w.Gate != nil {
			return plan.NeedReview // it landed, and somebody moved the branch back
		}
	case ledger.Stopped:
		if w.Stop != nil {
			return plan.Stopped
		}
	}
	return plan.Interrupted
}

// why is what was wrong with a worker's result.
func why(w *ledger.Worker) string {
	switch {
	case w.Quarantine != nil && len(w.Quarantine.Reasons) > 0:
		return w.Quarantine.Reasons[0]
	case w.Gate != nil && w.Gate.Why != "":
		return w.Gate.Why
	case w.Exit != nil && !w.Exit.OK():
		return "its command failed"
	}
	if open := w.Open(); len(open) > 0 {
		return open[0].Text
	}
	return ""
}
