package conduct

import (
	"context"
	"fmt"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// factsOf is what the journal, the branches and the locks say about the stages of a plan.
func factsOf(ctx context.Context, site *worksite.Site, now *ledger.Ledger, run *ledger.PlanRun, p plan.Plan) (map[string]plan.Fact, error) {
	authors, verifiers := now.StageWorkers(run, ledger.Author, ledger.Resolver), now.StageWorkers(run, ledger.Verifier)
	reviewers := now.StageWorkers(run, ledger.Reviewer)
	var all []*ledger.Worker
	used := map[string]plan.Used{}
	for _, byStage := range []map[string][]*ledger.Worker{authors, verifiers, reviewers} {
		for stage, list := range byStage {
			all = append(all, list...)
			for _, w := range list {
				used[stage] = used[stage].Plus(w.Used)
			}
		}
	}
	standings, err := standingsOf(ctx, site, run, all)
	if err != nil {
		return nil, err
	}
	facts := map[string]plan.Fact{}
	clean := map[string]bool{} // workers that kept their lease to the end
	for stage, list := range authors {
		f := facts[stage]
		for _, w := range list {
			f.Tries = append(f.Tries, tries(w, standings[w.ID].Status)...)
			if since, silent := site.Silent(w, standings[w.ID]); silent {
				f.Tries[len(f.Tries)-1].Silent = since
			}
			clean[string(w.ID)] = ending(w, standings[w.ID].Status) == plan.Landed
		}
		facts[stage] = f
	}
	for stage, list := range verifiers {
		f := facts[stage]
		for _, w := range list {
			try := plan.Try{Worker: string(w.ID), Ending: ending(w, standings[w.ID].Status), Why: why(w), Since: w.Changed}
			if try.Ending == plan.Lost && w.Losses < plan.DefaultLost {
				try.Ending = plan.Interrupted
			}
			f.Verifiers = append(f.Verifiers, try)
			clean[try.Worker] = try.Ending == plan.Landed
		}
		facts[stage] = f
	}
	decided(run, facts)
	for stage, answers := range run.Answers {
		f := facts[stage]
		f.Answers = counted(answers, clean)
		facts[stage] = f
	}
	for _, st := range p.Stages {
		f := facts[st.ID]
		f.CanVerify = verifier(run, st) != nil
		f.CanResolve = f.CanVerify
		f.Used, f.Budgets = used[st.ID], run.Budgets[st.ID]
		f.Reviewed = reviewed(run, st, authors[st.ID], reviewers[st.ID], func(w *ledger.Worker) ledger.Status { return standings[w.ID].Status })
		facts[st.ID] = f
	}
	return facts, nil
}

// standingsOf are the standings of workers of a plan, those included that gc has removed.
func standingsOf(ctx context.Context, site *worksite.Site, run *ledger.PlanRun, all []*ledger.Worker) (map[lease.ID]worksite.Standing, error) {
	var there []*ledger.Worker
	gone := map[lease.ID]worksite.Standing{}
	for _, w := range all {
		if w.Removal == nil {
			there = append(there, w)
			continue
		}
		status, err := removed(ctx, site, run, w)
		if err != nil {
			return nil, err
		}
		gone[w.ID] = worksite.Standing{Status: status}
	}
	found, err := site.Standings(ctx, there)
	if err != nil {
		return nil, err
	}
	for id, st := range gone {
		found[id] = st
	}
	return found, nil
}

// removed is the status of a worker that gc has removed.
func removed(ctx context.Context, site *worksite.Site, run *ledger.PlanRun, w *ledger.Worker) (ledger.Status, error) {
	switch {
	case w.Discard != nil || w.Gate == nil:
		return ledger.ThrownAway, nil
	case w.Gate.Outcome == gate.Nothing:
		return ledger.NoChange, nil
	}
	if w.Gate.Commit == "" {
		return ledger.Finished, nil
	}
	in, err := site.Ancestor(ctx, w.Gate.Commit, run.Collects())
	if err == nil && !in && run.Branch != "" {
		in, err = site.Ancestor(ctx, w.Gate.Commit, run.Target)
	}
	if in {
		return ledger.MergedIn, err
	}
	return ledger.Finished, err
}

// counted are the answers that count: those of persons, and those of agents that have ended and
// kept their lease.
func counted(answers map[string]ledger.TruthAnswer, clean map[string]bool) map[string]plan.Answer {
	found := map[string]plan.Answer{}
	for claim, a := range answers {
		if a.Worker == "" || clean[a.Worker] {
			found[claim] = plan.Answer{Yes: a.Yes, Why: a.Why, Who: a.Who, Worker: a.Worker}
		}
	}
	return found
}

// decided adds what the operator decided about the stages.
func decided(run *ledger.PlanRun, facts map[string]plan.Fact) {
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
	for stage, n := range run.Verify {
		f := facts[stage]
		f.Verify = n
		facts[stage] = f
	}
}

func said(word string, v ledger.Verdict) string {
	text := word + " by " + v.Who
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// tries are the tries of one worker: each attempt that was judged in vain, each failure, each
// loss, and how it stands now.
func tries(w *ledger.Worker, status ledger.Status) []plan.Try {
	now := plan.Try{Worker: string(w.ID), Ending: ending(w, status), Why: why(w), Since: w.Changed, Resolves: w.Stage.Role == ledger.Resolver,
		Late: w.Exit != nil && w.Exit.Reason == cell.TimedOut}
	failures := w.Failures
	if now.Ending == plan.Failed {
		failures--
	}
	list := slices.Repeat([]plan.Try{{Worker: now.Worker, Ending: plan.Failed}}, max(0, failures))
	list = append(list, slices.Repeat([]plan.Try{{Worker: now.Worker, Ending: plan.Rejected}}, w.Attempts-w.Amended)...)
	list = append(list, slices.Repeat([]plan.Try{{Worker: now.Worker, Ending: plan.Lost}}, w.Losses)...)
	return append(list, now)
}

// maxLimits is how often a worker goes on by itself that failed because its provider is asked too often.
const maxLimits = 5

// ending says how far a worker has come.
func ending(w *ledger.Worker, status ledger.Status) plan.Ending {
	switch status {
	case ledger.MergedIn, ledger.NoChange:
		return plan.Landed
	case ledger.Running, ledger.Gating:
		return plan.Running
	case ledger.Failed:
		if w.Limited && w.Limits <= maxLimits {
			return plan.Interrupted // it goes on after the back-off
		}
		return plan.Failed
	case ledger.Lost:
		return plan.Lost
	case ledger.Asking:
		if len(w.Open()) == 0 {
			return plan.Interrupted // it was answered
		}
		return plan.Asking
	case ledger.InReview:
		return inReview(w)
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

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// inReview says how far a result is that somebody has to look at before it lands.
func inReview(w *ledger.Worker) plan.Ending {
	if w.Proposal == nil || w.Proposal.Digest != w.Audit.Digest {
		return plan.Interrupted // it was not tested yet
	}
	return plan.Reviewing
}

// why is what was wrong with a worker's result.
func why(w *ledger.Worker) string {
	switch {
	case w.Quarantine != nil && len(w.Quarantine.Reasons) > 0:
		return w.Quarantine.Reasons[0]
	case w.Gate != nil && w.Gate.Outcome == gate.Conflict && len(w.Gate.Paths) > 0:
		more := ""
		if n := len(w.Gate.Paths) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return fmt.Sprintf("conflict in %s%s", w.Gate.Paths[0], more) + w.Gate.Because()
	case w.Gate != nil && w.Gate.Why != "":
		return w.Gate.Why
	case w.Exit != nil && w.Exit.Reason == cell.OverBudget:
		return "it used its budget up"
	case w.Interrupted():
		return "a person stopped its command"
	case w.Exit != nil && !w.Exit.OK():
		return "its command failed"
	case w.Losses > 0 && w.Exit == nil:
		return fmt.Sprintf("it was running when cordon or the machine died, %s in all", times(w.Losses+1))
	}
	if open := w.Open(); len(open) > 0 {
		return open[0].Text
	}
	return ""
}
