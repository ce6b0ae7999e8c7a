package opencode

import (
	"fmt"
	"regexp"
	"sync"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// user is what OpenCode reads in the home, and project what it reads in a repository. It
// also reads what others have there.
var (
	user = agent.Places{
		Instructions: []string{".config/opencode/AGENTS.md"},
		Skills:       []agent.Folder{{At: ".config/opencode/skills"}, {At: ".config/opencode/skill"}, {At: ".claude/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".config/opencode/agents", Ext: ".md", Deep: true}, {At: ".config/opencode/agent", Ext: ".md", Deep: true}},
		Commands:     []agent.Folder{{At: ".config/opencode/commands", Ext: ".md", Deep: true}, {At: ".config/opencode/command", Ext: ".md", Deep: true}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".opencode/skills"}, {At: ".opencode/skill"}, {At: ".claude/skills"}, {At: ".agents/skills"}},
		Agents:   []agent.Folder{{At: ".opencode/agents", Ext: ".md", Deep: true}, {At: ".opencode/agent", Ext: ".md", Deep: true}},
		Commands: []agent.Folder{{At: ".opencode/commands", Ext: ".md", Deep: true}, {At: ".opencode/command", Ext: ".md", Deep: true}},
	}
)

// readServers are those of both files; the second is read over the first.
func readServers(files map[string][]byte, _ string) ([]agent.Server, error) {
	table := map[string]any{}
	for _, file := range []string{ownConfig, ownConfigC} {
		all, err := agent.JSONObject(files[file])
		if err != nil {
			return nil, fmt.Errorf("~/%s: %w", file, err)
		}
		if rows, ok := all["mcp"].(map[string]any); ok {
			table = agent.Over(table, rows)
		}
	}
	return agent.ServerTable(table, readServer), nil
}

// readServer reads one server. The command is a list, and being off has its own word.
func readServer(m map[string]any) (agent.Server, bool) {
	if on, ok := m["enabled"].(bool); ok && !on {
		return agent.Server{}, false
	}
	usual := map[string]any{"url": m["url"], "headers": m["headers"], "env": m["environment"]}
	if words, ok := m["command"].([]any); ok && len(words) > 0 {
		usual["command"], usual["args"] = words[0], words[1:]
	}
	return agent.UsualServer(usual)
}

var variableUse = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`) })

// expandBraces puts the values of variables into {env:NAME}.
func expandBraces(value string, lookup func(string) (string, bool)) string {
	return variableUse().ReplaceAllStringFunc(value, func(use string) string {
		v, _ := lookup(variableUse().FindStringSubmatch(use)[1])
		return v
	})
}

// fronts leave out permissions, and tools that are switched on.
var fronts = map[agent.Part]clean.Rule{
	agent.Skills:   {Plain: []string{"name", "description", "license", "compatibility"}},
	agent.Commands: {Plain: []string{"description", "agent", "model", "subtask"}},
	agent.Agents: {
		Plain: []string{"description", "mode", "model", "variant", "temperature", "top_p", "steps", "maxSteps", "color", "hidden"},
		Tools: []string{"tools"},
	},
}
