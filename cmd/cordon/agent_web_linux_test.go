package main

import (
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// webExits is a tool with which the servers of a client's maker look at the web, and what is
// in the requests of a client that has such tools and in no others. Codex's is a part of every
// request; Gemini's web_fetch takes a prompt only if Google's servers fetch. Qwen Code's model asks
// for the description of the tool, which is there where the client knows a server for it; no call of it is made here. Copilot has its tool only with an account: its
// switch is in the golden files.
var webExits = map[client.Name]struct {
	call  testmodel.Call
	marks []string
	env   map[string]string
}{
	"claude": {call: testmodel.Call{Tool: "WebSearch", Input: input{"query": "the secret"}}, marks: []string{`"web_search_20`}},
	"codex":  {marks: []string{`"type":"web_search"`}},
	"gemini": {call: testmodel.Call{Tool: "google_web_search", Input: input{"query": "the secret"}}, marks: []string{`"googleSearch"`, `Supports up to 20 URLs`}},
	"qwen": {call: testmodel.Call{Tool: "tool_search", Input: input{"query": "select:web_search"}}, marks: []string{"search results are UNTRUSTED"},
		env: map[string]string{"ENABLE_WEB_SEARCH": "true", "WEB_SEARCH_MODEL": "qwen3.8-flash",
			"WEB_SEARCH_BASE_URL": "https://dashscope.aliyuncs.com/compatible-mode/v1", "WEB_SEARCH_API_KEY": "test-key"}},
}

// What the servers of a client's maker fetch is no connection of the cell's: a client has
// such tools only if the policy says agent.web. Alone it has them, and with the setting too.
func TestAgentsWeb(t *testing.T) {
	t.Parallel()
	for name := range webExits {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			alone := webSite(t, name)
			alone.bare()
			without := webSite(t, name)
			without.run([]int{0})
			with := webSite(t, name)
			with.policy = append(with.policy, "agent: {web: true}")
			with.run([]int{0})
			for _, mark := range webExits[name].marks {
				if !alone.reached(mark) {
					t.Errorf("the client alone does not ask for %s: the test shows nothing: %+v", mark, alone.model.Results())
				}
				if without.reached(mark) {
					t.Errorf("it asks for %s without agent.web: %+v", mark, without.model.Results())
				}
				if !with.reached(mark) {
					t.Errorf("it does not ask for %s with agent.web: %+v", mark, with.model.Results())
				}
			}
		})
	}
}

// webSite is a site whose model makes one call.
func webSite(t *testing.T, name client.Name) *staged {
	t.Helper()
	var script testmodel.Script
	if call := webExits[name].call; call.Tool != "" {
		script.Turns = append(script.Turns, testmodel.Do(call))
	}
	script.Turns = append(script.Turns, testmodel.Say(lastWords))
	s := agentSite(t, name, script)
	s.point(point{env: webExits[name].env})
	return s
}

// reached reports whether the model got a request with a text in it.
func (s *staged) reached(mark string) bool {
	for _, r := range s.model.Requests() {
		if strings.Contains(string(r.Body), mark) {
			return true
		}
	}
	return false
}
