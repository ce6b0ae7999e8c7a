package conduct

import (
	"context"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// Decision is what the operator decides about a stage of a plan.
type Decision struct {
	Plan, Stage string
	Type        string // ledger.StageSkipped, StageAccepted or StageAgain
	Who, Why    string
}

// Decide records a decision.
func Decide(ctx context.Context, site *worksite.Site, d Decision) error {
	if err := site.Begin(ctx); err != nil {
		return err
	}
	report, err := Look(ctx, site, d.Plan)
	if err != nil {
		return err
	}
	st, ok := find(report.All, d.Stage)
	if !ok {
		return fault.Refuse("the plan %s has no stage %s", d.Plan, d.Stage)
	}
	if err := decidable(st, d.Type); err != nil {
		return err
	}
	data := ledger.Verdict{Plan: d.Plan, Run: report.Run.Run, Stage: d.Stage, Who: d.Who, Why: d.Why}
	if d.Type == ledger.StageAgain && st.Need == plan.NeedUnproven {
		if verifier(report.Run, st.Stage) == nil {
			return fault.Refuse("stage %s has landed, and the plan names no agent that could verify it: cordon plan truth %s %s NUMBER yes|no", d.Stage, d.Plan, d.Stage)
		}
		data.Verifiers = report.Verifiers[d.Stage] + 1
	}
	if d.Type == ledger.StageAgain && st.Spent {
		data.Budgets = max(1, report.Run.Budgets[d.Stage]) + 1
	}
	if d.Type == ledger.StageAgain && st.Need == plan.NeedLook && st.Job == plan.Examine {
		if reviewer(report.Run, st.Stage) == nil {
			return fault.Refuse("a person reviews stage %s: cordon plan review %s %s approve|feedback", d.Stage, d.Plan, d.Stage)
		}
		data.Reviewers = report.Reviewers[d.Stage] + 1
	}
	return site.AppendIf("", d.Type, data, stillOpen(report.Run))
}

func find(all []plan.Standing, stage string) (plan.Standing, bool) {
	for _, s := range all {
		if s.Stage.ID == stage {
			return s, true
		}
	}
	return plan.Standing{}, false
}

// decidable refuses decisions that have no effect, or that come too late.
func decidable(st plan.Standing, typ string) error {
	switch {
	case st.State == plan.StageRunning:
		return fault.Refuse("stage %s is running: cordon stop %s ends its worker", st.Stage.ID, st.Worker)
	case st.Settled():
		return fault.Refuse("stage %s is %s", st.Stage.ID, st.State)
	case typ == ledger.StageAgain && st.State != plan.StageNeeds:
		return fault.Refuse("stage %s is %s, and does not need another try", st.Stage.ID, st.State)
	}
	return nil
}

// Close ends a plan before its end. Its workers stay as they are.
func Close(ctx context.Context, site *worksite.Site, name, who string) error {
	if err := site.Begin(ctx); err != nil {
		return err
	}
	report, err := Look(ctx, site, name)
	if err != nil {
		return err
	}
	data := ledger.Closing{Plan: name, Run: report.Run.Run, Who: who}
	return site.AppendIf("", ledger.PlanClosed, data, stillOpen(report.Run))
}

// LockName is held by the process that runs a plan.
func LockName(name string) string { return "plan-" + name }
