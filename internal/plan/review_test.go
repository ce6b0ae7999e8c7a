package plan

import "testing"

// A result lands after an approval, and nothing else is one. Everything that another agent does
// not settle needs a person.
func TestReviewing(t *testing.T) {
	by := func(worker string, verdict Verdict) Opinion {
		return Opinion{Verdict: verdict, Worker: worker, Text: "so"}
	}
	one := []Try{{Worker: "r", Ending: Landed}}
	for _, c := range []struct {
		name   string
		review string
		fact   Reviewed
		want   string // state/need/job
	}{
		{"nobody looked", "{}", Reviewed{Can: true}, "ready//review"},
		{"nobody can look", "{}", Reviewed{}, "needs/review/review"},
		{"a person looks", "person", Reviewed{Can: true}, "needs/review/review"},
		{"a person approved", "person", Reviewed{Opinions: []Opinion{by("", Approve)}}, "ready//land"},
		{"a person wants more", "{}", Reviewed{Reviewers: one, Opinions: []Opinion{by("r", Approve), by("", Feedback)}}, "ready//amend"},
		{"it looks", "{}", Reviewed{Reviewers: []Try{{Worker: "r", Ending: Running}}}, "running//review"},
		{"it was interrupted", "{}", Reviewed{Reviewers: []Try{{Worker: "r", Ending: Interrupted}}}, "ready//review"},
		{"it asks", "{}", Reviewed{Reviewers: []Try{{Worker: "r", Ending: Asking}}}, "needs/question/"},
		{"approved", "{}", Reviewed{Reviewers: one, Opinions: []Opinion{by("r", Approve)}}, "ready//land"},
		{"changed its mind", "{}", Reviewed{Reviewers: one, Opinions: []Opinion{by("r", Approve), by("r", Escalate)}}, "needs/review/review"},
		{"feedback", "{rounds: 1}", Reviewed{Reviewers: one, Opinions: []Opinion{by("r", Feedback)}}, "ready//amend"},
		{"no round left", "{rounds: 1}", Reviewed{Rounds: 1, Reviewers: one, Opinions: []Opinion{by("r", Feedback)}}, "needs/review/review"},
		{"no round left, and no must", "{rounds: 1, must: false}", Reviewed{Rounds: 1, Reviewers: one, Opinions: []Opinion{by("r", Feedback)}}, "ready//land"},
		{"escalated, and no must", "{must: false}", Reviewed{Reviewers: one, Opinions: []Opinion{by("r", Escalate)}}, "needs/review/review"},
		{"no answer", "{}", Reviewed{Reviewers: one}, "needs/review/review"},
		{"an answer of another", "{}", Reviewed{Reviewers: one, Opinions: []Opinion{by("x", Approve)}}, "needs/review/review"},
		{"it broke its lease", "{}", Reviewed{Reviewers: []Try{{Worker: "r", Ending: Violating}}}, "needs/review/review"},
		{"the operator wants another", "{}", Reviewed{Can: true, More: true, Reviewers: one, Opinions: []Opinion{by("r", Feedback)}}, "ready//review"},
	} {
		p := parse(t, "p", "version: 1\nplan: p\nstages:\n  - {id: a, task: t, write: [a], acceptance: [x], review: "+c.review+"}\n  - {id: b, task: t, after: [a]}\n")
		all := p.Standings(map[string]Fact{"a": {Tries: []Try{{Worker: "w", Ending: Reviewing}}, Reviewed: c.fact}})
		got := string(all[0].State) + "/" + string(all[0].Need) + "/" + string(all[0].Job)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if all[0].State == StageNeeds && (all[0].Why == "" && all[0].Need != NeedAnswer || all[1].State != StageBlocked) {
			t.Errorf("%s: it needs a person without a reason, or does not block what follows: %+v", c.name, all)
		}
	}
}
