package gemini

import (
	"fmt"

	"cordon/internal/agent"
)

// user is what Gemini reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".gemini/GEMINI.md"},
		Skills:       []agent.Folder{{At: ".gemini/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".gemini/agents", Ext: ".md"}},
		Commands:     []agent.Folder{{At: ".gemini/commands", Ext: ".toml", Deep: true}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".gemini/skills"}, {At: ".agents/skills"}},
		Agents:   []agent.Folder{{At: ".gemini/agents", Ext: ".md"}},
		Commands: []agent.Folder{{At: ".gemini/commands", Ext: ".toml", Deep: true}},
	}
)

func readServers(files map[string][]byte, _ string) ([]agent.Server, error) {
	all, err := agent.JSONObject(files[ownSettings])
	if err != nil {
		return nil, fmt.Errorf("~/%s: %w", ownSettings, err)
	}
	return agent.ServerTable(all["mcpServers"], readServer), nil
}

// readServer reads one server. Gemini calls the address httpUrl; by url it means an older
// transport.
func readServer(m map[string]any) (agent.Server, bool) {
	if _, older := m["url"]; older && m["type"] != "http" {
		return agent.Server{}, false
	}
	if address, ok := m["httpUrl"]; ok {
		m["url"] = address
	}
	return agent.UsualServer(m)
}
