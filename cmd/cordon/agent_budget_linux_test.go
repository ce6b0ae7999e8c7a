package main

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/stream"
	"cordon/internal/testmodel"
	"cordon/internal/view"
)

// A stage that uses more than its budget of tokens is stopped, or does not start again, as its client
// reports it. A budget that the client does not report is refused.
func TestAgentsBudget(t *testing.T) {
	t.Parallel()
	const turn = testmodel.InputTokens + testmodel.OutputTokens
	text := fmt.Sprintf(`version: 1
plan: bounded
stages:
  - {id: make, task: The parts., write: [src], acceptance: ["test -s src/1.txt"], budget: {tokens: %d}}
  - {id: after, after: [make], task: More., write: [src], acceptance: ["true"]}
`, turn+turn/2)
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			var deeds []deed
			for i := range 5 {
				deeds = append(deeds, deed{kind: shellTool, command: fmt.Sprintf("echo part >src/%d.txt", i+1)})
			}
			turns := append(turnsOf(t, name, deeds), testmodel.Say(lastWords))
			s := agentSite(t, name, testmodel.Script{Sub: map[string][]testmodel.Turn{"The parts.": turns, "More.": {testmodel.Say(lastWords)}}})
			args := s.planArgs(text)
			form := clients.Stream(name)
			if form.Tokens == stream.Never {
				if o := s.cordon([]int{3}, args...); !strings.Contains(o.err, "does not report tokens") {
					t.Errorf("got %s", o.err)
				}
				return
			}
			if form.Tokens == stream.AtEnd { // it cannot be stopped before
				o := s.cordon([]int{0}, "plan", "check", args[2], "--agent", string(name))
				if !strings.Contains(o.out, "reports its tokens at the end of a run") {
					t.Errorf("got %s", o.out)
				}
				s.cordon([]int{0}, args...)
				return
			}
			s.cordon([]int{5}, args...)
			var shown view.Plan
			s.parse(s.cordon([]int{0}, "plan", "show", "--json", "bounded").out, &shown)
			made := shown.Stages[0]
			if made.Need != "over budget" || !strings.Contains(made.Why, "tokens") || made.Next != "cordon plan retry bounded make" || shown.Stages[1].State != "blocked" {
				t.Errorf("got %+v", shown.Stages)
			}
			if o := s.cordon([]int{0}, "plan", "show", "bounded"); made.Tokens < turn || !strings.Contains(o.out, fmt.Sprintf("used so far, as the clients say: %d tokens", made.Tokens)) {
				t.Errorf("%d tokens were used:\n%s", made.Tokens, o.out)
			}
			if o := s.cordon([]int{0}, "inbox"); !strings.Contains(o.out, "bounded make  over budget, blocks 1 stage") {
				t.Errorf("got %s", o.out)
			}
			s.cordon([]int{5}, "plan", "run", "bounded") // nothing starts by itself
			s.parse(s.cordon([]int{0}, "plan", "retry", "--json", "bounded", "make").out, &shown)
			if shown.Stages[0].State != "ready" && shown.Stages[0].State != "needs" || len(s.workers()) != 1 {
				t.Errorf("after a retry: %+v", shown.Stages[0])
			}
			s.sound()
		})
	}
}

// Claude says what a run cost. A stage that cost more than its budget does not start again.
func TestAgentsCost(t *testing.T) {
	t.Parallel()
	turns := append(turnsOf(t, "claude", []deed{{kind: shellTool, command: "echo part >src/1.txt"}}), testmodel.Say(lastWords))
	s := agentSite(t, "claude", testmodel.Script{Sub: map[string][]testmodel.Turn{"The parts.": turns}})
	s.cordon([]int{5}, s.planArgs("version: 1\nplan: dear\nstages:\n  - {id: make, task: The parts., write: [src], "+
		"acceptance: [\"test -s src/2.txt\"], retries: {rejected: 3}, budget: {cost: 0.000001}}\n")...)
	var shown view.Plan
	s.parse(s.cordon([]int{0}, "plan", "show", "--json", "dear").out, &shown)
	if made := shown.Stages[0]; made.Need != "over budget" || made.Cost <= 0.000001 || !strings.Contains(made.Why, "it used $") {
		t.Errorf("got %+v", made)
	}
	if len(s.workers()) != 1 || s.landedFile("src/1.txt") != "" {
		t.Errorf("it started again, or landed: %+v", s.workers())
	}
	s.sound()
}

// A client that meets the limit of its provider and says so makes the stages with it wait. Its worker
// goes on afterwards, and that is no failure of the stage.
func TestAgentsLimited(t *testing.T) {
	t.Parallel()
	const name = "codex" // the others ask again by themselves
	turns := append(turnsOf(t, name, []deed{{kind: shellTool, command: "echo part >src/1.txt"}}), testmodel.Say(lastWords))
	s := agentSite(t, name, testmodel.Script{Sub: map[string][]testmodel.Turn{"The parts.": turns}, Limit: 1})
	o := s.cordon([]int{0}, s.planArgs("version: 1\nplan: limited\nstages:\n  - {id: make, task: The parts., write: [src], acceptance: [\"test -s src/1.txt\"]}\n")...)
	for _, want := range []string{"the provider of codex is asked too often: no stage of a plan starts with it before", "make waits: waits until ", "429 Too Many Requests", "make again: "} {
		if !strings.Contains(o.err, want) {
			t.Errorf("nothing says %q:\n%s", want, o.err)
		}
	}
	if len(s.workers()) != 1 {
		t.Errorf("got %+v", s.workers())
	}
	s.sound()
}
