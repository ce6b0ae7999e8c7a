package codex

import (
	"errors"
	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// ownConfig holds the operator's MCP servers, in TOML.
const ownConfig = ".codex/config.toml"

// user is what Codex reads in the home. It has no files of agents that its model sees.
var (
	user = agent.Places{
		Instructions: []string{".codex/AGENTS.override.md", ".codex/AGENTS.md"},
		Skills:       []agent.Folder{{At: ".codex/skills"}, {At: ".agents/skills"}},
		Commands:     []agent.Folder{{At: ".codex/prompts", Ext: ".md"}},
	}
	// project is empty: Codex reads skills of a project by itself. They are text to it.
	project = agent.Places{}
)

func readServers(files map[string][]byte, _ string) ([]agent.Server, error) {
	var all map[string]any
	if toml.Unmarshal(files[ownConfig], &all) != nil {
		return nil, errors.New("~/" + ownConfig + " is not understood") // the decoder's error could show a value
	}
	return agent.ServerTable(all["mcp_servers"], readServer), nil
}

// readServer reads one server. Codex has its own words for headers and for being off.
func readServer(m map[string]any) (agent.Server, bool) {
	if on, ok := m["enabled"].(bool); ok && !on {
		return agent.Server{}, false
	}
	if headers, ok := m["http_headers"]; ok {
		m["headers"] = headers
	}
	return agent.UsualServer(m)
}

// fronts have the members that Codex knows: a skill is text to it.
var fronts = map[agent.Part]clean.Rule{
	agent.Skills:   {Plain: []string{"name", "description", "license", "version"}},
	agent.Commands: {Plain: []string{"description", "argument-hint"}},
}
