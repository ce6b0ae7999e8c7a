package gemini

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// user is what Gemini reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".gemini/GEMINI.md"},
		Skills:       []agent.Folder{{At: ".gemini/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".gemini/agents", Ext: ".md"}},
		Commands:     []agent.Folder{{At: ".gemini/commands", Ext: ".toml", Deep: true}},
	}
	project = agent.Places{ // skills of a project it reads by itself; they are text to it
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

// fronts leave out servers (mcp_servers) and agents of other machines (kind: remote).
var fronts = map[agent.Part]clean.Rule{
	agent.Skills: {Plain: []string{"name", "description", "license", "version"}},
	agent.Agents: {
		Plain: []string{"name", "description", "display_name", "model", "temperature", "max_turns", "timeout_mins"},
		Tools: []string{"tools"},
		Only:  map[string][]string{"kind": {"local"}},
	},
}

// cleanCommand is a command without inline shell, and with what Gemini knows of it.
func cleanCommand(text []byte) (out []byte, removed []string, err error) {
	var all map[string]any
	if toml.Unmarshal(text, &all) != nil {
		return nil, nil, errors.New("it is not TOML")
	}
	prompt, ok := all["prompt"].(string)
	if !ok {
		return nil, nil, errors.New("it has no prompt")
	}
	prompt, removed = clean.Prompt(prompt)
	description, _ := all["description"].(string)
	for key := range all {
		if key != "prompt" && key != "description" {
			removed = append(removed, "unknown members")
		}
	}
	return []byte("description = " + tomlText(description) + "\nprompt = " + tomlText(prompt) + "\n"), removed, nil
}
