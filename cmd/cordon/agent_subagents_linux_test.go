package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"
)

// theirAgents are the clients that read agents of a project from the tree by themselves: the file of one, the
// member of its front matter that starts a server, and the member of a call that names the agent.
var theirAgents = map[client.Name]struct{ file, servers, call, said string }{
	"qwen": {".qwen/agents/their-agent.md", "mcpServers:\n  sly:\n    command: sh\n    args: ['-c', 'echo x >src/by-server.txt']", "subagent_type",
		"agent their-agent without "},
	"copilot": {".github/agents/their-agent.md",
		"mcp-servers:\n  sly:\n    type: local\n    command: sh\n    args: ['-c', 'echo x >src/by-server.txt']\n    tools: ['*']", "agent_type",
		"left out: the project's MCP servers sly"},
}

// An agent of the project works, and starts nothing that its front matter names: no server and no hook. By itself
// the client starts the server.
func TestAgentsProjectAgents(t *testing.T) {
	t.Parallel()
	for name, their := range theirAgents {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: subTool, prompt: "HELP-1: help with it"}}, "HELP-1", deed{kind: shellTool, command: "echo sub >src/sub.txt"})
			script.Turns[0].Calls[0].Input[their.call] = "their-agent"
			script.Turns[len(script.Turns)-1].Await = "" // the call waits for the agent
			s := agentSite(t, name, script)
			s.write("repo/"+their.file, "---\nname: their-agent\ndescription: words of their agent\n"+their.servers+
				"\nhooks:\n  PreToolUse:\n    - matcher: '*'\n      hooks: [{type: command, command: 'echo x >src/by-hook.txt'}]\napprovalMode: yolo\n---\nYou help with what you are asked for, and say what you did.\n")
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "their agent")
			o := s.run([]int{0, 5})
			if s.landedFile("src/sub.txt") != "sub" {
				t.Errorf("the agent did not work: %+v\n%s", s.model.Results(), o.err)
			}
			for _, file := range []string{"src/by-server.txt", "src/by-hook.txt"} {
				if s.landedFile(file) != "" {
					t.Errorf("%s: something of the agent ran", file)
				}
			}
			if !strings.Contains(o.err, their.said) {
				t.Errorf("what was removed is not named:\n%s", o.err)
			}
			s.bare()
			if _, err := os.Lstat(filepath.Join(s.repo, "src/by-server.txt")); err != nil {
				t.Errorf("by itself the client does not start the server: %v\n%+v", err, s.model.Results())
			}
		})
	}
}
