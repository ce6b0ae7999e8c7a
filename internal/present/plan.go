package present

import (
	"fmt"
	"strings"

	"cordon/internal/conduct"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/policy"
	"cordon/internal/view"
)

// PlanCheckView is a plan with what its stages may do.
func PlanCheckView(c conduct.Checked) *view.PlanCheck {
	v := &view.PlanCheck{
		Plan: c.Plan.ID, Target: Branch(c.Target), Base: string(c.Base), Land: string(c.Plan.Land), Parallel: c.Plan.Parallel,
		Critical: c.Plan.Critical(), Notes: c.Plan.Notes,
	}
	for _, p := range c.Pairs() {
		v.Pairs = append(v.Pairs, view.PlanPair{A: p.A, B: p.B, Shared: p.Shared})
	}
	for _, p := range c.Permits {
		v.Stages = append(v.Stages, view.PlanStage{
			ID: p.Stage.ID, Kind: string(p.Stage.Kind), After: linked(p.Stage.After), Writes: p.Roots(),
			Domains: p.Policy.Network.AllowedDomains, Acceptance: p.Policy.Acceptance, Review: p.Stage.Review.Describe(),
			Lands: landsHow(c.Plan.Land, p),
		})
	}
	return v
}

// landsHow says how the result of a stage lands, if the operator does not say --merge.
func landsHow(when plan.Landing, p plan.Permit) string {
	switch r := p.Stage.Review; {
	case p.Stage.Kind == plan.Verify:
		return "lands nothing"
	case r != nil && r.Person:
		return view.WaitsForYou
	case when == plan.Together && p.Stage.Kind != plan.Deliver:
		return "lands by itself on the branch of the plan"
	case p.Policy.Gate.Land.Review():
		return view.WaitsForYou
	case p.Policy.Gate.Land == policy.LandCareful:
		return "lands by itself, unless it changes tests, CI or build files"
	}
	return "lands by itself"
}

func linked(links []plan.Link) (ids []string) {
	for _, l := range links {
		ids = append(ids, l.ID)
	}
	return ids
}

// PlanSummaryView is a plan in a list.
func PlanSummaryView(r conduct.Report, held bool) view.PlanSummary {
	v := view.PlanSummary{Plan: r.Run.Plan, Run: r.Run.Run, State: "open", Total: len(r.All), Opened: r.Run.Opened}
	switch {
	case r.Run.Closed != nil && r.Run.Closed.Done:
		v.State = "done"
	case r.Run.Closed != nil:
		v.State = "stopped"
	case held:
		v.State = "running"
	}
	for _, s := range r.All {
		if s.Settled() {
			v.Done++
		}
		if s.State == plan.StageNeeds {
			v.Needs++
		}
	}
	return v
}

// PlanView is a plan and where its stages stand.
func PlanView(r conduct.Report, held bool) *view.Plan {
	v := &view.Plan{
		PlanSummary: PlanSummaryView(r, held), Target: Branch(r.Run.Target), Source: r.Run.Source, Digest: r.Run.Digest, Critical: r.Plan.Critical(),
	}
	blocks := r.Plan.Blocks()
	for _, s := range r.All {
		why := s.Why
		if why == "" {
			why = r.Wait[s.Stage.ID]
		}
		v.Stages = append(v.Stages, view.StageNow{
			ID: s.Stage.ID, Kind: string(s.Stage.Kind), After: append([]string{}, linked(s.Stage.After)...), State: string(s.State), Why: why, Need: string(s.Need),
			Blocks: blocks[s.Stage.ID], Worker: s.Worker, Began: r.Began[s.Stage.ID], Since: s.Since, Next: stageNext(r.Run, s), Truths: truthViews(s),
			Reviews: reviewViews(s), Tokens: r.Used[s.Stage.ID].Tokens, Cost: r.Used[s.Stage.ID].Cost,
		})
	}
	return v
}

// AttentionView is a stage that needs a person.
func AttentionView(i conduct.Item) view.Attention {
	s := i.Standing
	return view.Attention{
		Plan: i.Run.Plan, Stage: s.Stage.ID, Need: string(s.Need), Why: s.Why, Blocks: i.Blocks, Worker: s.Worker, Since: s.Since, Next: stageNext(i.Run, s),
	}
}

// truthViews are the claims of a stage that no command can show, with their answers.
func truthViews(s plan.Standing) []view.Truth {
	list := []view.Truth{}
	for i, claim := range s.Stage.Sentences() {
		v := view.Truth{Number: i + 1, Claim: claim}
		if a, ok := s.Answers[claim]; ok {
			v.Answer, v.By, v.Who, v.Why = "no", "person", a.Who, a.Why
			if a.Yes {
				v.Answer = "yes"
			}
			if a.Worker != "" {
				v.By = "agent"
			}
		}
		list = append(list, v)
	}
	return list
}

// reviewViews are the opinions about the last result of a stage.
func reviewViews(s plan.Standing) []view.Opinion {
	list := []view.Opinion{}
	for _, o := range s.Opinions {
		v := view.Opinion{Verdict: string(o.Verdict), By: "agent", Who: o.Who, Text: o.Text, Time: o.At}
		if o.Worker == "" {
			v.By = "person"
		}
		list = append(list, v)
	}
	return list
}

// openTruth is the number of the first claim that nobody confirmed.
func openTruth(s plan.Standing) int {
	for _, t := range truthViews(s) {
		if t.Answer != "yes" {
			return t.Number
		}
	}
	return 1
}

// stageNext is the command that helps a stage that needs a person.
func stageNext(run *ledger.PlanRun, s plan.Standing) string {
	if s.State != plan.StageNeeds && s.Need != plan.NeedSilent {
		return ""
	}
	switch s.Need {
	case plan.NeedSilent:
		return "cordon logs " + s.Worker + ", and cordon stop " + s.Worker + " if it hangs"
	case plan.NeedLook:
		if s.Job == plan.Examine {
			return fmt.Sprintf("cordon diff %s, then cordon plan review %s %s approve|feedback", s.Worker, run.Plan, s.Stage.ID)
		}
		return "cordon merge " + s.Worker
	case plan.NeedAnswer:
		return "cordon answer " + s.Worker + ` "…", then cordon plan run ` + run.Plan
	case plan.NeedCheckout:
		return "cordon merge " + s.Worker
	case plan.NeedConflict:
		return "cordon plan retry " + run.Plan + " " + s.Stage.ID
	case plan.NeedViolation:
		return "cordon quarantine show " + s.Worker
	case plan.NeedUnproven:
		return fmt.Sprintf("cordon plan truth %s %s %d yes", run.Plan, s.Stage.ID, openTruth(s))
	}
	return strings.Join([]string{"cordon plan retry", run.Plan, s.Stage.ID}, " ")
}
