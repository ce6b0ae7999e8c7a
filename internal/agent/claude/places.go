package claude

import (
	"fmt"
	"maps"

	"cordon/internal/agent"
)

// stateFile holds the operator's MCP servers, among everything else that Claude notes. A
// Claude whose directory was moved has it there.
const (
	stateFile      = ".claude.json"
	movedStateFile = ".claude/.claude.json"
)

// user is what Claude reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".claude/CLAUDE.md"},
		Skills:       []agent.Folder{{At: ".claude/skills"}},
		Agents:       []agent.Folder{{At: ".claude/agents", Ext: ".md", Deep: true}},
		Commands:     []agent.Folder{{At: ".claude/commands", Ext: ".md", Deep: true}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".claude/skills"}},
		Agents:   []agent.Folder{{At: ".claude/agents", Ext: ".md", Deep: true}},
		Commands: []agent.Folder{{At: ".claude/commands", Ext: ".md", Deep: true}},
	}
)

// readServers are those of the operator for all projects, and those that they have added
// in this checkout, which hold over those.
func readServers(files map[string][]byte, checkout string) ([]agent.Server, error) {
	table := map[string]any{}
	for _, file := range []string{stateFile, movedStateFile} {
		all, err := agent.JSONObject(files[file])
		if err != nil {
			return nil, fmt.Errorf("~/%s: %w", file, err)
		}
		for _, rows := range []any{all["mcpServers"], agent.Inside(all, "projects", checkout, "mcpServers")} {
			if rows, ok := rows.(map[string]any); ok {
				maps.Copy(table, rows)
			}
		}
	}
	return agent.ServerTable(table, agent.UsualServer), nil
}
