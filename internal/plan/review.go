package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Review is a look at the result of a stage before it lands, by another agent or by a person.
type Review struct {
	Agent  string `json:"agent,omitempty"`  // a client; "": the one that plan run names
	Person bool   `json:"person,omitempty"` // only a person reviews
	Rounds int    `json:"rounds"`           // how often the author may answer feedback
	// Must: nothing lands without an approval. Without it, a result lands after the last round whatever
	// the reviewer says, unless it escalates.
	Must bool `json:"must"`
}

// Describe says who reviews, in words.
func (r *Review) Describe() string {
	if r == nil {
		return ""
	}
	if r.Person {
		return "by you"
	}
	who, end := "by another agent", "; it lands after that without an approval too"
	if r.Agent != "" {
		who = "by " + r.Agent
	}
	if r.Must {
		end = "; nothing lands without an approval"
	}
	rounds := fmt.Sprintf(", %d rounds of feedback", r.Rounds)
	if r.Rounds == 1 {
		rounds = ", 1 round of feedback"
	}
	return who + rounds + end
}

// readReview reads person, or {agent, rounds, must}.
func readReview(s *Stage, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		if n.Value != "person" {
			return strictyaml.At(n, strictyaml.Fault("expected person or a mapping, not "+strictyaml.Describe(n),
				"write review: person, or review: {agent: NAME, rounds: 2}"))
		}
		s.Review = &Review{Person: true, Must: true}
		return nil
	}
	r := Review{Rounds: 1, Must: true}
	_, err := strictyaml.ReadMapping(n, "a review", &r, []strictyaml.Field[Review]{
		strictyaml.Text("agent", "The client that reviews. Without this key: the one that plan run names.",
			func(r *Review) *string { return &r.Agent }, checkID),
		strictyaml.Scalar("rounds", "How often the author may answer feedback.",
			func(r *Review) *int { return &r.Rounds }, readBetween(0, maxRounds), strconv.Itoa),
		strictyaml.Scalar("must", "false: the result lands after the last round without an approval too, unless the reviewer escalates.",
			func(r *Review) *bool { return &r.Must }, strictyaml.ReadBool, strconv.FormatBool),
	})
	s.Review = &r
	return err
}

// reviewable: every round of feedback is another attempt of the author, which its policy allows.
func reviewable(p Permit, _ Surroundings) (string, string) {
	r, most := p.Stage.Review, p.Policy.Gate.Attempts
	if r == nil || r.Rounds+p.Stage.Retries.Rejected <= most {
		return "", ""
	}
	return fmt.Sprintf("its rounds of review and its retries are %d attempts, and the policy allows %d", r.Rounds+p.Stage.Retries.Rejected, most),
		fmt.Sprintf("add to gate in cordon.yaml: attempts: %d", r.Rounds+p.Stage.Retries.Rejected)
}

func reviewer(s Stage) string {
	if s.Review == nil {
		return ""
	}
	return s.Review.Agent
}

// Opinion is what a reviewer answers.
type Opinion struct {
	Verdict Verdict
	Text    string
	Who     string
	Worker  string // the agent whose evidence it is; "": a person said so
	At      time.Time
}

// Verdict is one word of a reviewer.
type Verdict string

const (
	Approve  Verdict = "approve"
	Feedback Verdict = "feedback" // the author is to change something
	Escalate Verdict = "escalate" // a person has to decide
)

// Known reports whether a word is one of the three.
func (v Verdict) Known() bool { return v == Approve || v == Feedback || v == Escalate }

// Reviewed is what the journal says about the review of a result.
type Reviewed struct {
	Reviewers []Try     // the workers that looked at this result, in their order
	Opinions  []Opinion // about this result: those of persons, and of agents that kept their lease to the end
	Rounds    int       // how often the author has answered an agent's feedback
	More      bool      // the operator wants another reviewer to look at it
	Can       bool      // somebody can be asked
	Person    string    // why only a person lets it land, at the end of a sentence; "": nothing says so
}

// reviewing is a stage whose result passed its checks and waits for a review. A person's word
// counts most; nothing but an approval is one.
func reviewing(st Standing, f Fact) Standing {
	r := f.Reviewed
	if last, ok := byPerson(r.Opinions); ok {
		return decided(st, last)
	}
	need := func(why string) Standing {
		st.State, st.Need, st.Job, st.Why = StageNeeds, NeedLook, Examine, why
		return st
	}
	person := strings.TrimSuffix("a person has to review its result, "+r.Person, ", ")
	if st.Stage.Review == nil || st.Stage.Review.Person {
		return need(person)
	}
	allow := func(o Opinion) Standing {
		if o.Verdict == Approve && r.Person != "" {
			return need(person + "; its review by agents has ended")
		}
		return decided(st, o)
	}
	n := len(r.Reviewers)
	if n == 0 || r.More && over(r.Reviewers[n-1]) {
		if !r.Can {
			return need("the plan names no agent that could review its result")
		}
		st.State, st.Job, st.Why = StageReady, Examine, ""
		return st
	}
	last := r.Reviewers[n-1]
	switch last.Ending {
	case Running, Queued:
		st.State, st.Job, st.Worker, st.Why, st.Since = StageRunning, Examine, last.Worker, "its result is being reviewed", last.Since
		return st
	case Interrupted:
		st.State, st.Job, st.Worker, st.Retry, st.Why = StageReady, Examine, last.Worker, true, ""
		return st
	case Asking:
		st.State, st.Need, st.Worker, st.Why, st.Since = StageNeeds, NeedAnswer, last.Worker, last.Why, last.Since
		return st
	}
	st.Since = last.Since
	said, ok := byWorker(r.Opinions, last.Worker)
	switch {
	case ok && said.Verdict == Escalate:
		return need("the reviewer " + last.Worker + " wants a person to decide: " + said.Text)
	case ok && said.Verdict == Approve, ok && r.Rounds < st.Stage.Review.Rounds:
		return allow(said)
	case !st.Stage.Review.Must:
		return allow(Opinion{Verdict: Approve})
	case ok:
		return need(fmt.Sprintf("after %d rounds the reviewer %s still asks for changes: %s", r.Rounds, last.Worker, said.Text))
	case last.Ending == Landed:
		return need("the reviewer " + last.Worker + " gave no answer")
	}
	return need("no answer of the reviewer " + last.Worker + " counts: " + whyNot(last))
}

// over reports whether a reviewer has come to its end.
func over(t Try) bool {
	return t.Ending != Running && t.Ending != Queued && t.Ending != Interrupted && t.Ending != Asking
}

func whyNot(t Try) string {
	if t.Why != "" {
		return t.Why
	}
	if t.Ending == Violating {
		return "it broke its lease"
	}
	return "it was " + string(t.Ending)
}

// decided is a stage about whose result somebody said yes, or what to change.
func decided(st Standing, o Opinion) Standing {
	st.State, st.Job, st.Retry, st.Why = StageReady, Admit, true, ""
	switch o.Verdict {
	case Feedback:
		st.Job = Amend
	case Escalate:
		st.State, st.Need, st.Job, st.Why = StageNeeds, NeedLook, Examine, o.Text
	}
	return st
}

// byPerson is the last opinion of a person.
func byPerson(list []Opinion) (last Opinion, ok bool) { return byWorker(list, "") }

// byWorker is the last opinion of a worker.
func byWorker(list []Opinion, worker string) (last Opinion, ok bool) {
	for _, o := range list {
		if o.Worker == worker {
			last, ok = o, true
		}
	}
	return last, ok
}
