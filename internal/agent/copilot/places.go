package copilot

import (
	"fmt"
	"path"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// ownServers holds the operator's MCP servers.
const ownServers = ".copilot/mcp-config.json"

// user is what Copilot reads in the home.
var (
	user = agent.Places{
		Instructions: []string{".copilot/copilot-instructions.md"},
		Skills:       []agent.Folder{{At: ".copilot/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".copilot/agents", Ext: ".md"}},
	}
	// project has no agents: Copilot reads those of a project by itself, and starts the servers that they name. See
	// agent.Adapter.ProjectAgents.
	project = agent.Places{Skills: []agent.Folder{{At: ".github/skills"}, {At: ".agents/skills"}, {At: ".claude/skills"}}}
)

func readServers(files map[string][]byte, _ string) ([]agent.Server, error) {
	all, err := agent.JSONObject(files[ownServers])
	if err != nil {
		return nil, fmt.Errorf("~/%s: %w", ownServers, err)
	}
	return agent.ServerTable(all["mcpServers"], agent.UsualServer), nil
}

// fronts leave out servers (mcp-servers).
var fronts = map[agent.Part]clean.Rule{
	agent.Skills: {Plain: []string{"name", "description", "license", "version", "user-invocable", "disable-model-invocation"}},
	agent.Agents: {
		Plain: []string{"name", "description", "model", "user-invocable", "disable-model-invocation"},
		Tools: []string{"tools"},
	},
}

// ignoredSkills are the folders of the tree whose skills the kit has as text.
func ignoredSkills(o agent.Order) []string {
	var list []string
	for _, folder := range project.Skills {
		list = append(list, path.Join(o.Tree, folder.At))
	}
	return list
}
