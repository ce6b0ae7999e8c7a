package mailbox

import (
	"errors"
	"fmt"

	"cordon/internal/ledger"
	"cordon/internal/post"
)

// truth records what a verifier says about a claim of its stage. The lease names the claims:
// a worker whose lease has none has no say. The answer is evidence that is marked as an
// agent's, and it never replaces a person's.
func (m *Mailbox) truth(r post.Request) error {
	st := m.w.Stage
	switch {
	case st == nil || len(st.Claims) == 0:
		return errors.New("your briefing has no claims to answer")
	case r.Number < 1 || r.Number > len(st.Claims):
		return fmt.Errorf("there is no claim %d: your briefing has %d", r.Number, len(st.Claims))
	}
	why := plainText(r.Text)
	switch {
	case why == "":
		return errors.New("say why, in a sentence")
	case len(why) > maxText:
		return fmt.Errorf("a text of more than %d bytes is too long", maxText)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.truths[r.Number] == nil {
		m.truths[r.Number] = &votes{}
	}
	yes, before := r.Yes, *m.truths[r.Number]
	doubt, refused := m.truths[r.Number].cast(yes)
	if doubt {
		yes, why = false, doubted
	} else if refused != nil {
		return refused
	}
	claim := st.Claims[r.Number-1]
	data := ledger.TruthAnswer{Plan: st.Plan, Run: st.Run, Stage: st.Stage, Claim: claim, Yes: yes, Why: why, Who: string(m.w.ID), Worker: string(m.w.ID)}
	err := m.s.AppendIf("", ledger.TruthAnswered, data, func(now *ledger.Ledger) error { return openClaim(now, data) })
	if err != nil {
		*m.truths[r.Number] = before // what was not written down was not said
		return err
	}
	word := "no"
	if yes {
		word = "yes"
	}
	m.s.Voice.Step(m.w.ID, "truth", fmt.Sprintf("%s: %s (it says: %s)", word, oneText(claim), oneText(why)))
	return refused
}

// openClaim refuses an answer that would come too late.
func openClaim(now *ledger.Ledger, d ledger.TruthAnswer) error {
	p := now.Plan(d.Plan)
	if p == nil || p.Run != d.Run || p.Closed != nil {
		return fmt.Errorf("the plan %s is not open any more", d.Plan)
	}
	if before, ok := p.Answers[d.Stage][d.Claim]; ok && before.Worker == "" {
		return errors.New("a person has answered this claim")
	}
	return nil
}
