package plan

import (
	"fmt"
	"strconv"

	"cordon/internal/policy"
)

// Budget is the most that a stage may use. Zero means no bound.
type Budget struct {
	Time   policy.Duration `json:"time,omitempty"` // of one run of its worker
	Tokens int64           `json:"tokens,omitempty"`
	Cost   float64         `json:"cost,omitempty"` // US dollars
}

// Counts reports whether the budget is one of tokens or cost.
func (b Budget) Counts() bool { return b.Tokens > 0 || b.Cost > 0 }

// Used is what the clients of a stage say that they used.
type Used struct {
	Tokens int64
	Cost   float64
}

// Plus is the sum of two.
func (u Used) Plus(o Used) Used { return Used{Tokens: u.Tokens + o.Tokens, Cost: u.Cost + o.Cost} }

// Left is what remains of a budget that may be used so often. Nothing remains of one that was used up: ok is
// false then, and why says what was.
func (b Budget) Left(used Used, times int) (left Budget, why string, ok bool) {
	n := max(1, times)
	if b.Tokens > 0 {
		all := b.Tokens * int64(n)
		if left.Tokens = all - used.Tokens; left.Tokens <= 0 {
			return left, fmt.Sprintf("it used %d of %d tokens", used.Tokens, all), false
		}
	}
	if b.Cost > 0 {
		all := b.Cost * float64(n)
		if left.Cost = all - used.Cost; left.Cost <= 0 {
			return left, "it used " + dollars(used.Cost) + " of " + dollars(all), false
		}
	}
	return left, "", true
}

func dollars(v float64) string { return "$" + strconv.FormatFloat(v, 'f', 2, 64) }

// within is a stage with a budget. One that used it up starts nothing by itself; a result that
// is ready to land lands.
func within(st Standing, f Fact) Standing {
	last := f.Tries[len(f.Tries)-1]
	if st.State == StageNeeds && st.Need == NeedFailed && last.Late && st.Stage.Budget.Time > 0 {
		st.Need, st.Why = NeedBudget, "it ran longer than "+st.Stage.Budget.Time.String()
	}
	if st.State != StageReady || st.Job == Admit {
		return st
	}
	if _, why, ok := st.Stage.Budget.Left(f.Used, f.Budgets); !ok {
		st.State, st.Need, st.Why, st.Retry, st.Spent = StageNeeds, NeedBudget, why, false, true
	}
	return st
}

// budgeted: a budget is kept only if the clients of the stage report what they use.
func budgeted(p Permit, in Surroundings) (string, string) {
	s := p.Stage
	if !s.Budget.Counts() {
		return "", ""
	}
	name := s.Agent
	if name == "" {
		name = in.Agent
	}
	if len(s.Command) > 0 || name == "" && in.Command {
		return "a command does not report tokens or cost", "keep only the time of the budget"
	}
	for _, name := range []string{name, reviewer(s)} {
		if name == "" {
			continue
		}
		tokens, cost, known := in.Reports(name)
		switch {
		case !known:
		case s.Budget.Tokens > 0 && !tokens:
			return name + " does not report tokens", "keep only the time of the budget"
		case s.Budget.Cost > 0 && !cost && tokens:
			return name + " does not report its cost, but it reports tokens", "bound its tokens instead: budget: {tokens: 2M}"
		case s.Budget.Cost > 0 && !cost:
			return name + " reports neither cost nor tokens", "keep only the time of the budget"
		}
	}
	return "", ""
}
