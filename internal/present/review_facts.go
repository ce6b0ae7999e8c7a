package present

import (
	"fmt"

	"cordon/internal/checkfile"
	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// facts are the six facts of a review, in their order.
func (r *caseOf) facts() []view.Fact {
	return []view.Fact{r.auditFact(), r.acceptanceFact(), r.cellFact(), r.guardFact(), r.networkFact(), r.baseFact()}
}

// unhindered says why no reason keeps the result from landing; nil: one does.
func (r *caseOf) unhindered() *view.Fact {
	const name = "why"
	var f view.Fact
	switch released := r.Release != nil && !r.Release.Retry; {
	case len(r.wrong) > 0:
		return nil
	case r.Audit == nil:
		f = fact(name, view.FactNone, "The result is not judged yet.")
	case r.unread != nil:
		f = fact(name, view.FactBad, "The audit cannot be read.")
	case released && r.Release.Inside:
		f = fact(name, view.FactNote, "Left behind: %s. Only what is inside its lease goes on.", terminal.Plural(r.Audit.Summary.Violations, "violation"))
	case released:
		f = fact(name, view.FactNote, "Released by %s: what was wrong does not keep it from landing.", r.Release.Who)
	case r.Audit.Summary.Violations > 0:
		f = fact(name, view.FactNote, "The audit found %s.", terminal.Plural(r.Audit.Summary.Violations, "violation"))
	default:
		f = fact(name, view.FactGood, "No rule was broken.")
	}
	return &f
}

func fact(name, state, format string, args ...any) view.Fact {
	return view.Fact{Name: name, State: state, Text: legible.Line(fmt.Sprintf(format, args...))}
}

func (r *caseOf) auditFact() view.Fact {
	switch {
	case r.Audit == nil:
		return fact("audit", view.FactNone, "not audited")
	case r.unread != nil:
		return fact("audit", view.FactBad, "the record cannot be read")
	case r.Audit.Summary.Violations > 0:
		return fact("audit", view.FactBad, "%s, %d may land", terminal.Plural(r.Audit.Summary.Violations, "violation"), r.Audit.Summary.Landing)
	case len(r.Audit.Checks) > 0:
		return fact("audit", view.FactNote, "clean, %d may land; the result changes %s", r.Audit.Summary.Landing, checkfile.Together(r.Audit.Checks))
	}
	return fact("audit", view.FactGood, "clean, %d may land", r.Audit.Summary.Landing)
}

func (r *caseOf) acceptanceFact() view.Fact {
	checks := checksOf(r.Worker)
	for _, c := range checks {
		if c.Code != 0 || c.Ended != "" {
			return fact("acceptance", view.FactBad, "%q %s", c.Command, (gate.Check{Code: c.Code, Ended: c.Ended}).How())
		}
	}
	switch {
	case len(checks) > 0 && r.Gate != nil && r.Gate.Retries > 0:
		return fact("acceptance", view.FactNote, "%d passed%s", len(checks), onRetry(r.Gate.Retries))
	case len(checks) > 0:
		return fact("acceptance", view.FactGood, "%d passed%s", len(checks), onNode(checks[0].Node))
	case len(r.laws.policy.Acceptance) == 0:
		return fact("acceptance", view.FactNote, "the policy has no commands")
	}
	return fact("acceptance", view.FactNone, "not run")
}

func (r *caseOf) cellFact() view.Fact {
	switch {
	case r.Start == nil || unstarted(r.Worker):
		return fact("cell", view.FactNone, "not started")
	case len(r.Start.Layers) == 0:
		return fact("cell", view.FactBad, "unconfined")
	case len(r.Start.Missing) > 0:
		return fact("cell", view.FactNote, "%s missing, %d acts proven", terminal.Plural(len(r.Start.Missing), "layer"), len(r.Start.Proven))
	}
	return fact("cell", view.FactGood, "held, %d acts proven", len(r.Start.Proven))
}

func (r *caseOf) guardFact() view.Fact {
	switch doubts := r.AllDoubts(); {
	case r.Start == nil:
		return fact("guard", view.FactNone, "not started")
	case len(doubts) > 0 && !r.Waives(ledger.UnprovenGuard):
		return fact("guard", view.FactBad, "not proven: %s", doubts[0])
	case r.Guard != nil && r.Guard.Broken > 0:
		return fact("guard", view.FactBad, "%d of %d denied, %s of the record cannot be read", r.Guard.Denied, r.Guard.Calls, terminal.Plural(r.Guard.Broken, "line"))
	case r.Guard != nil && r.Guard.Denied+r.Guard.Asked > 0:
		return fact("guard", view.FactNote, "%d of %d denied", r.Guard.Denied, r.Guard.Calls)
	case r.Guard != nil:
		return fact("guard", view.FactGood, "0 of %d denied", r.Guard.Calls)
	case r.Agent == nil:
		return fact("guard", view.FactNone, "a command without a guard")
	}
	return fact("guard", view.FactNone, "no tool calls recorded")
}

func (r *caseOf) networkFact() view.Fact {
	switch {
	case r.Start == nil:
		return fact("network", view.FactNone, "not started")
	case r.Net == nil:
		return fact("network", view.FactNone, "no connections recorded")
	case r.Net.Damaged > 0:
		return fact("network", view.FactBad, "%s", worksite.Summed(*r.Net))
	case r.Net.Refused > 0:
		return fact("network", view.FactNote, "%s", worksite.Summed(*r.Net))
	}
	return fact("network", view.FactGood, "%s", worksite.Summed(*r.Net))
}

func (r *caseOf) baseFact() view.Fact {
	target := Branch(r.Lease.Lease().Target)
	switch {
	case r.now.Status == ledger.Conflicted:
		return fact("base", view.FactBad, "conflicts with %s in %s%s", target, Paths(r.Gate.Paths, 3), r.Gate.Because())
	case r.now.Behind > 0:
		return fact("base", view.FactNote, "%s behind %s", terminal.Plural(r.now.Behind, "commit"), target)
	}
	return fact("base", view.FactGood, "up to date with %s", target)
}
