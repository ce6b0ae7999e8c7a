package mailbox

import (
	"errors"
	"fmt"

	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/post"
)

// review records what a reviewer thinks of the result that its lease names. A worker whose
// lease names none has no say, so nobody reviews a result of their own. The opinion is evidence
// that is marked as an agent's, and it never replaces a person's.
func (m *Mailbox) review(r post.Request) error {
	st, verdict := m.w.Stage, plan.Verdict(r.Verdict)
	switch {
	case st == nil || st.Role != ledger.Reviewer || st.Looks == nil || st.Looks.Worker == string(m.w.ID):
		return errors.New("you have no result of somebody else to review")
	case !verdict.Known():
		return fmt.Errorf("answer approve, feedback or escalate, not %.40q", r.Verdict)
	}
	text := plainText(r.Text)
	switch {
	case text == "":
		return errors.New("say why, in a sentence")
	case len(text) > maxText:
		return fmt.Errorf("a text of more than %d bytes is too long", maxText)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.reviews
	doubt, refused := m.reviews.cast(verdict == plan.Approve)
	if doubt {
		verdict, text = plan.Escalate, doubted
	} else if refused != nil {
		return refused
	}
	data := ledger.Opinion{
		Plan: st.Plan, Run: st.Run, Stage: st.Stage, Of: *st.Looks, Verdict: verdict, Text: text, Who: string(m.w.ID), Worker: string(m.w.ID),
	}
	if err := m.s.AppendIf("", ledger.ReviewGiven, data, func(now *ledger.Ledger) error { return stillProposed(now, data) }); err != nil {
		m.reviews = before // what was not written down was not said
		return err
	}
	m.s.Voice.Step(m.w.ID, "review", fmt.Sprintf("%s (it says: %s)", verdict, oneText(text)))
	return refused
}

// stillProposed refuses an opinion that would come too late.
func stillProposed(now *ledger.Ledger, d ledger.Opinion) error {
	p := now.Plan(d.Plan)
	if p == nil || p.Run != d.Run || p.Closed != nil {
		return fmt.Errorf("the plan %s is not open any more", d.Plan)
	}
	author, err := now.Find(d.Of.Worker)
	if err != nil || !author.Proposes(d.Of) {
		return errors.New("the result that you look at is not the last one of its author any more")
	}
	return nil
}
