package plan

import "time"

// Answer is what somebody says about a claim that no command can show.
type Answer struct {
	Yes    bool
	Why    string
	Who    string
	Worker string // the agent whose evidence it is; "": a person said so
	At     time.Time
}

// Sentences are the claims of a stage that no command can show.
func (s Stage) Sentences() (claims []string) {
	for _, t := range s.Truths {
		if t.Run == "" {
			claims = append(claims, t.Claim)
		}
	}
	return claims
}

// proven is a stage whose result landed. It is done when every sentence about it was confirmed.
func proven(st Standing, f Fact) Standing {
	st.State, st.Why = StageDone, ""
	open, denied := "", ""
	for _, claim := range st.Stage.Sentences() {
		a, answered := f.Answers[claim]
		switch {
		case !answered && open == "":
			open = claim
		case answered && !a.Yes && denied == "":
			denied = claim
		}
	}
	if open == "" && denied == "" {
		return st
	}
	st.State, st.Need, st.Why = StageNeeds, NeedUnproven, "nobody confirmed: "+open
	if denied != "" {
		st.Why = "denied: " + denied
		if why := f.Answers[denied].Why; why != "" {
			st.Why += " (" + why + ")"
		}
	}
	return confirming(st, f, denied == "")
}

// confirming is a stage with claims that are open or denied: a verifier looks at them, or a
// person has to. After a denial another verifier looks only if the operator asks for one.
func confirming(st Standing, f Fact, open bool) Standing {
	if n := len(f.Verifiers); n > 0 {
		last := f.Verifiers[n-1]
		switch last.Ending {
		case Running, Queued:
			st.State, st.Need, st.Job, st.Worker, st.Why, st.Since = StageRunning, "", Confirm, last.Worker, "its truths are being verified", last.Since
			return st
		case Interrupted:
			st.State, st.Need, st.Job, st.Worker, st.Retry = StageReady, "", Confirm, last.Worker, true
			return st
		case Asking:
			st.Need, st.Worker, st.Why, st.Since = NeedAnswer, last.Worker, last.Why, last.Since
			return st
		}
	}
	allowed := f.Verify
	if open {
		allowed = max(allowed, 1)
	}
	if f.CanVerify && len(f.Verifiers) < allowed {
		st.State, st.Need, st.Job, st.Why = StageReady, "", Confirm, ""
	}
	return st
}
