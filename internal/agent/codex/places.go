package codex

import (
	"errors"
	"path"

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
	project = agent.Places{Skills: []agent.Folder{{At: ".agents/skills"}, {At: ".codex/skills"}}}
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

// projectSkills switch the skills of the tree off that the kit has as text: Codex reads them whether
// or not it trusts the project.
func projectSkills(o agent.Order) []string {
	var raw []string
	for _, item := range o.Items {
		if item.Part != agent.Skills || item.From != agent.FromProject {
			continue
		}
		for _, folder := range project.Skills {
			raw = append(raw, "{path="+tomlString(path.Join(o.Tree, folder.At, item.Name, "SKILL.md"))+",enabled=false}")
		}
	}
	return raw
}
