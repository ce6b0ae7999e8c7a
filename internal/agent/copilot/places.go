package copilot

import (
	"fmt"

	"cordon/internal/agent"
)

// ownServers holds the operator's MCP servers.
const ownServers = ".copilot/mcp-config.json"

// user is what Copilot reads in the home, and project what it reads in a repository. It
// shows commands of projects to its model as skills.
var (
	user = agent.Places{
		Instructions: []string{".copilot/copilot-instructions.md"},
		Skills:       []agent.Folder{{At: ".copilot/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".copilot/agents", Ext: ".md"}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".github/skills"}, {At: ".claude/skills"}, {At: ".agents/skills"}},
		Agents:   []agent.Folder{{At: ".github/agents", Ext: ".md"}, {At: ".claude/agents", Ext: ".md"}},
		Commands: []agent.Folder{{At: ".claude/commands", Ext: ".md"}},
	}
)

func readServers(files map[string][]byte, _ string) ([]agent.Server, error) {
	all, err := agent.JSONObject(files[ownServers])
	if err != nil {
		return nil, fmt.Errorf("~/%s: %w", ownServers, err)
	}
	return agent.ServerTable(all["mcpServers"], agent.UsualServer), nil
}
