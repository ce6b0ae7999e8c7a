package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const chain = `version: 1
plan: p
parallel: 2
stages:
  - {id: base, task: t, write: [a], truths: [It holds.], retries: {failed: 1}}
  - {id: left, task: t, write: [b], after: [base]}
  - {id: right, task: t, write: [c], after: [base]}
  - {id: same, task: t, write: [b/x], after: [base]}
  - {id: last, kind: verify, acceptance: [x], after: [left, right, same]}
`

// say writes standings as one line.
func say(all []Standing) string {
	var words []string
	for _, st := range all {
		w := st.Stage.ID + ":" + string(st.State)
		if st.Need != "" {
			w += "/" + string(st.Need)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func roots(s Stage) []string { return s.Write }

func TestStandings(t *testing.T) {
	p := parse(t, "p", chain)
	landed := []Try{{Ending: Landed}}
	yes := map[string]Answer{"It holds.": {Yes: true}}
	for _, c := range []struct {
		name  string
		facts map[string]Fact
		want  string
		start string
	}{
		{"at the beginning", nil, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"it runs", map[string]Fact{"base": {Tries: []Try{{Ending: Running}}}}, "base:running left:waiting right:waiting same:waiting last:waiting", ""},
		{"it asks", map[string]Fact{"base": {Tries: []Try{{Ending: Asking}}}}, "base:needs/question left:blocked right:blocked same:blocked last:blocked", ""},
		{"it failed once", map[string]Fact{"base": {Tries: []Try{{Ending: Failed}}}}, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"it failed twice", map[string]Fact{"base": {Tries: []Try{{Ending: Failed}, {Ending: Failed}}}}, "base:needs/failed left:blocked right:blocked same:blocked last:blocked", ""},
		{"the operator asks again", map[string]Fact{"base": {Again: 1, Tries: []Try{{Ending: Failed}, {Ending: Failed}}}}, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"landed, unproven", map[string]Fact{"base": {Tries: landed}}, "base:needs/unproven left:blocked right:blocked same:blocked last:blocked", ""},
		{"landed, denied", map[string]Fact{"base": {Tries: landed, Answers: map[string]Answer{"It holds.": {}}}}, "base:needs/unproven left:blocked right:blocked same:blocked last:blocked", ""},
		{"a verifier can be asked", map[string]Fact{"base": {Tries: landed, CanVerify: true}}, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"a verifier looks", map[string]Fact{"base": {Tries: landed, CanVerify: true, Verifiers: []Try{{Ending: Running}}}}, "base:running left:waiting right:waiting same:waiting last:waiting", ""},
		{"a verifier was stopped", map[string]Fact{"base": {Tries: landed, CanVerify: true, Verifiers: []Try{{Ending: Interrupted}}}}, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"a verifier said nothing", map[string]Fact{"base": {Tries: landed, CanVerify: true, Verifiers: landed}}, "base:needs/unproven left:blocked right:blocked same:blocked last:blocked", ""},
		{"a verifier denied it", map[string]Fact{"base": {Tries: landed, CanVerify: true, Verifiers: landed, Answers: map[string]Answer{"It holds.": {}}}}, "base:needs/unproven left:blocked right:blocked same:blocked last:blocked", ""},
		{"the stage's own agent denied it", map[string]Fact{"base": {Tries: landed, CanVerify: true, Answers: map[string]Answer{"It holds.": {}}}}, "base:needs/unproven left:blocked right:blocked same:blocked last:blocked", ""},
		{"the operator wants another verifier", map[string]Fact{"base": {Tries: landed, CanVerify: true, Verify: 2, Verifiers: landed, Answers: map[string]Answer{"It holds.": {}}}}, "base:ready left:waiting right:waiting same:waiting last:waiting", "base"},
		{"done", map[string]Fact{"base": {Tries: landed, Answers: yes}}, "base:done left:ready right:ready same:ready last:waiting", "left right"},
		{"skipped", map[string]Fact{"base": {Skipped: "by me"}}, "base:skipped left:ready right:ready same:ready last:waiting", "left right"},
		{"accepted", map[string]Fact{"base": {Accepted: "by me", Tries: []Try{{Ending: Failed}}}}, "base:done left:ready right:ready same:ready last:waiting", "left right"},
		{"a conflict is resolved", map[string]Fact{"base": {Tries: landed, Answers: yes}, "left": {Tries: []Try{{Ending: Conflicted}}, CanResolve: true}},
			"base:done left:ready right:ready same:ready last:waiting", "left right"},
		{"a resolver failed", map[string]Fact{"base": {Tries: landed, Answers: yes}, "left": {Tries: []Try{{Ending: Conflicted}, {Ending: Failed, Resolves: true}}, CanResolve: true}},
			"base:done left:needs/failed right:ready same:ready last:blocked", "right same"},
		{"four conflicts", map[string]Fact{"base": {Tries: landed, Answers: yes}, "left": {Tries: []Try{{Ending: Conflicted}, {Ending: Conflicted}, {Ending: Conflicted}, {Ending: Conflicted}}, CanResolve: true}},
			"base:done left:needs/conflict right:ready same:ready last:blocked", "right same"},
		{"a conflict blocks only what follows", map[string]Fact{"base": {Tries: landed, Answers: yes}, "left": {Tries: []Try{{Ending: Conflicted}}}},
			"base:done left:needs/conflict right:ready same:ready last:blocked", "right same"},
	} {
		all := p.Standings(c.facts)
		if got := say(all); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		start, waits := p.Next(all, roots, 10)
		var ids []string
		for _, s := range start {
			ids = append(ids, s.Stage.ID)
		}
		if got := strings.Join(ids, " "); got != c.start {
			t.Errorf("%s: starts %q (%v)", c.name, got, waits)
		}
	}
}

func TestAttention(t *testing.T) {
	p := parse(t, "p", chain)
	old, young := time.Unix(1, 0), time.Unix(2, 0)
	list := p.Attention(p.Standings(map[string]Fact{
		"base":  {Accepted: "x"},
		"left":  {Tries: []Try{{Ending: Failed, Since: young}}},
		"right": {Tries: []Try{{Ending: Rejected, Since: old}}},
	}))
	if len(list) != 2 || list[0].Stage.ID != "right" {
		t.Errorf("got %v", say(list))
	}
	all := p.Standings(map[string]Fact{
		"base": {Accepted: "x"}, "left": {Tries: []Try{{Ending: Running, Since: young, Silent: old}}}, "right": {Tries: []Try{{Ending: Running, Since: old}}},
	})
	if list := p.Attention(all); len(list) != 1 || list[0].Stage.ID != "left" || list[0].Need != NeedSilent || list[0].State != StageRunning {
		t.Errorf("silent: got %v", say(list))
	}
}

// Whatever happens to the stages, nothing starts before what it waits for is settled, nothing
// that may change the same path runs at once, nothing waits without a reason, and a plan in
// which every try lands comes to its end.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		facts := map[string]Fact{}
		for step := range 10 * len(p.Stages) {
			all := p.Standings(facts)
			start, waits := p.Next(all, roots, 3)
			checkStandings(t, p, all, start, waits)
			if Done(all) {
				return
			}
			advance(t, all, start, facts, step < 5*len(p.Stages))
		}
		if all := p.Standings(facts); !Ended(all) {
			t.Fatalf("it never ends: %s", say(all))
		}
	})
}

func randomPlan(t *rapid.T) Plan {
	n := rapid.IntRange(1, 8).Draw(t, "stages")
	p := Plan{Version: 1, ID: "p", Parallel: rapid.IntRange(1, 3).Draw(t, "parallel")}
	for i := range n {
		s := Stage{ID: fmt.Sprintf("s%d", i), Kind: Worktree, Task: "t", Write: []string{fmt.Sprintf("d%d", rapid.IntRange(0, 3).Draw(t, "root"))}}
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "after") == 0 {
				s.After = append(s.After, Link{ID: fmt.Sprintf("s%d", j)})
			}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

func checkStandings(t *rapid.T, p Plan, all []Standing, start []Standing, waits map[string]string) {
	settled := map[string]bool{}
	var active []Standing
	for _, st := range all {
		settled[st.Stage.ID] = st.Settled()
		if st.State == StageRunning {
			active = append(active, st)
		}
	}
	active = append(active, start...)
	if len(active) > p.Parallel && len(start) > 0 {
		t.Fatalf("%d at once", len(active))
	}
	for i, a := range active {
		if meets := meeting(a, active[i+1:], roots); meets != "" {
			t.Fatalf("%s and %s run at once", a.Stage.ID, meets)
		}
	}
	for _, s := range start {
		for _, l := range s.Stage.After {
			if !settled[l.ID] {
				t.Fatalf("%s starts before %s", s.Stage.ID, l.ID)
			}
		}
	}
	for _, st := range all {
		starts := false
		for _, s := range start {
			starts = starts || s.Stage.ID == st.Stage.ID
		}
		if st.State == StageReady && !starts && waits[st.Stage.ID] == "" || (st.State == StageWaiting || st.State == StageBlocked) && st.Why == "" {
			t.Fatalf("%s waits without a reason", st.Stage.ID)
		}
	}
}

// advance ends what runs, one way or another, and starts what is to start.
func advance(t *rapid.T, all []Standing, start []Standing, facts map[string]Fact, linger bool) {
	endings := []Ending{Landed, Landed, Failed, Lost}
	if linger {
		endings = append(endings, Running)
	}
	for _, st := range all {
		if st.State == StageRunning {
			f := facts[st.Stage.ID]
			f.Tries[len(f.Tries)-1].Ending = rapid.SampledFrom(endings).Draw(t, "ending")
			facts[st.Stage.ID] = f
		}
	}
	for _, s := range start {
		f := facts[s.Stage.ID]
		f.Tries = append(f.Tries, Try{Ending: Running})
		facts[s.Stage.ID] = f
	}
}

// What is left of a plan is the chain that takes longest without the stages that are settled.
func TestLeft(t *testing.T) {
	p := Plan{Stages: []Stage{{ID: "a"}, {ID: "b", After: []Link{{ID: "a"}}}, {ID: "c", After: []Link{{ID: "a"}}}, {ID: "d", After: []Link{{ID: "c"}}}}}
	all := p.Standings(map[string]Fact{"a": {Tries: []Try{{Ending: Landed}}}, "c": {Tries: []Try{{Ending: Running}}}})
	chain, _ := p.Left(all, nil)
	if want := []string{"c", "d"}; !slices.Equal(chain, want) {
		t.Errorf("%v, want %v", chain, want)
	}
	chain, rest := p.Left(all, func(st Standing) time.Duration {
		if st.Stage.ID == "b" {
			return time.Hour
		}
		return time.Minute
	})
	if !slices.Equal(chain, []string{"b"}) || rest != time.Hour {
		t.Errorf("%v in %v", chain, rest)
	}
	done := p.Standings(map[string]Fact{"a": {Skipped: "x"}, "b": {Skipped: "x"}, "c": {Skipped: "x"}, "d": {Skipped: "x"}})
	if chain, rest := p.Left(done, nil); len(chain) != 0 || rest != 0 {
		t.Errorf("%v in %v", chain, rest)
	}
}
