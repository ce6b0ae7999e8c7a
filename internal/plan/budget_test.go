package plan

import "testing"

// A stage that used its budget up starts nothing; what is ready to land lands.
func TestBudgets(t *testing.T) {
	p := parse(t, "p", `version: 1
plan: p
stages:
  - {id: a, task: t, write: [a], acceptance: [x], retries: {failed: 3}, budget: {tokens: 1k, cost: 0.50, time: 1h}, review: {}}
  - {id: b, task: t, after: [a]}
`)
	tried := func(e Ending) []Try { return []Try{{Worker: "w", Ending: e}} }
	approved := Reviewed{Reviewers: []Try{{Worker: "r", Ending: Landed}}, Opinions: []Opinion{{Verdict: Approve, Worker: "r"}}}
	for _, c := range []struct {
		name string
		fact Fact
		want string
		why  string
	}{
		{"nothing used", Fact{Tries: tried(Failed)}, "a:ready b:waiting", ""},
		{"some left", Fact{Tries: tried(Interrupted), Used: Used{Tokens: 999, Cost: 0.4}}, "a:ready b:waiting", ""},
		{"no tokens left", Fact{Tries: tried(Interrupted), Used: Used{Tokens: 1000}}, "a:needs/over budget b:blocked", "it used 1000 of 1000 tokens"},
		{"no money left", Fact{Tries: tried(Failed), Used: Used{Cost: 0.75}}, "a:needs/over budget b:blocked", "it used $0.75 of $0.50"},
		{"the operator allows more", Fact{Tries: tried(Failed), Used: Used{Cost: 0.75}, Budgets: 2}, "a:ready b:waiting", ""},
		{"it runs", Fact{Tries: tried(Running), Used: Used{Tokens: 5000}}, "a:running b:waiting", ""},
		{"its reviewer would", Fact{Tries: tried(Reviewing), Used: Used{Tokens: 5000}, Reviewed: Reviewed{Can: true}}, "a:needs/over budget b:blocked", "it used 5000 of 1000 tokens"},
		{"it can land", Fact{Tries: tried(Reviewing), Used: Used{Tokens: 5000}, Reviewed: approved}, "a:ready b:waiting", ""},
		{"it landed", Fact{Tries: tried(Landed), Used: Used{Tokens: 5000}}, "a:done b:ready", ""},
		{"its time is over", Fact{Tries: []Try{{Ending: Failed}, {Ending: Failed}, {Ending: Failed}, {Ending: Failed, Late: true}}}, "a:needs/over budget b:blocked", "it ran longer than 1h"},
	} {
		all := p.Standings(map[string]Fact{"a": c.fact})
		if got := say(all); got != c.want || all[0].State == StageNeeds && all[0].Why != c.why {
			t.Errorf("%s: got %s (%s), want %s", c.name, got, all[0].Why, c.want)
		}
	}
}
