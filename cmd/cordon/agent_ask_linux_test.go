package main

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// questionCalls are questions the clients' own way, for those that have one without a
// person before them.
var questionCalls = map[client.Name]testmodel.Call{
	"claude": {Tool: "AskUserQuestion", Input: input{"questions": []any{input{
		"question": "tea or coffee?", "header": "Drink", "multiSelect": false,
		"options": []any{input{"label": "tea", "description": "green"}, input{"label": "coffee", "description": "black"}}}}}},
	"codex": {Tool: "request_user_input", Input: input{"questions": []any{input{
		"id": "drink", "header": "Drink", "question": "tea or coffee?",
		"options": []any{input{"label": "tea", "description": "green"}, input{"label": "coffee", "description": "black"}}}}}},
	"copilot": {Tool: "ask_user", Input: input{"question": "tea or coffee?", "choices": []any{"tea", "coffee"}}},
}

// answering answers every question of the site's workers as it comes, until the test
// ends.
func (s *staged) answering(text string) {
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(200 * time.Millisecond):
			}
			for _, w := range s.workers() {
				s.try(s.command("answer", w.Worker, text)) // there may be nothing to answer
			}
		}
	}()
	s.t.Cleanup(func() { close(over); <-done })
}

// A question of an agent's, by cordon ask or by the client's own tool, comes to the
// operator, and the answer comes to the agent.
func TestAgentsAsk(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "cordon ask 'left or right?' >src/answer.txt; cordon done 'went there'"}}, "")
			call, own := questionCalls[name]
			if own {
				script.Turns = append([]testmodel.Turn{testmodel.Do(call)}, script.Turns...)
			}
			s := agentSite(t, name, script)
			s.answering("the green one")
			s.run([]int{0})
			if got := s.landedFile("src/answer.txt"); got != "the green one" {
				t.Errorf("the answer is %q\nresults: %+v", got, s.model.Results())
			}
			if own {
				if r := s.result(call.Tool, 0); !strings.Contains(r.Text, "ANSWERED") || !strings.Contains(r.Text, "the green one") {
					t.Errorf("its own question came back with %+v", r)
				}
			}
		})
	}
}

// An agent that ends with a question is not merged: it goes on with its conversation
// when it has the answer. TestAgentsPlan shows the same of every client.
func TestAgentsGoOn(t *testing.T) {
	t.Parallel()
	for _, name := range shared() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "echo first >src/first.txt; cordon ask --no-wait 'left or right?'"}}, "")
			more := playing(t, name, []deed{{kind: shellTool, command: "echo second >src/second.txt"}}, "")
			script.Turns = append(script.Turns, more.Turns...)
			s := agentSite(t, name, script)
			o := s.run([]int{5})
			id := s.only().Worker
			if !strings.Contains(o.err, "asks") || !strings.Contains(o.err, "left or right?") || s.landedFile("src/first.txt") != "" {
				t.Errorf("it asks and waits:\n%s%s", o.out, o.err)
			}
			s.cordon([]int{5}, "resume", id) // there is no answer
			s.cordon([]int{0}, "answer", id, "to the left")
			s.cordon([]int{0}, "resume", id)
			if s.landedFile("src/first.txt") != "first" || s.landedFile("src/second.txt") != "second" {
				t.Errorf("landed %q and %q\nresults: %+v", s.landedFile("src/first.txt"), s.landedFile("src/second.txt"), s.model.Results())
			}
			requests := s.model.Requests()
			if last := requests[len(requests)-1]; !strings.Contains(last.User, "to the left") || !strings.Contains(last.User, s.Prompt) {
				t.Errorf("the conversation that went on says %q", last.User)
			}
			s.sound()
		})
	}
}
