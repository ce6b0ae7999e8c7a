package main

import (
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// backgroundCalls start a sub-agent that works beside its conversation, for clients whose sub-agents
// do so only when they are told.
var backgroundCalls = map[client.Name]testmodel.Call{
	"copilot": {Tool: "task", Input: input{"name": "help", "description": "some help", "prompt": "HELP-1: help with it", "agent_type": "general-purpose",
		"mode": "background"}},
}

// The work of a sub-agent in the background lands. When it ends, the client reads its words by a call
// of its own, which no hook is asked about.
func TestAgentsBackground(t *testing.T) {
	t.Parallel()
	for name, call := range backgroundCalls {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "sleep 3; echo main >src/main.txt"}}, "HELP-1",
				deed{kind: shellTool, command: "echo sub >src/sub.txt"})
			script.Turns = append([]testmodel.Turn{testmodel.Do(call)}, script.Turns...)
			script.Turns = append(script.Turns, testmodel.Say(lastWords)) // it goes on when it has heard of the end
			s := agentSite(t, name, script)
			if o := s.run([]int{0}); !strings.Contains(o.out+o.err, "read_agent") {
				t.Errorf("the client did not read the words of its sub-agent:\n%s%s", o.out, o.err)
			}
			for file, text := range map[string]string{"src/main.txt": "main", "src/sub.txt": "sub"} {
				if got := s.landedFile(file); got != text {
					t.Errorf("%s landed as %q\nresults: %+v", file, got, s.model.Results())
				}
			}
			s.sound()
		})
	}
}
