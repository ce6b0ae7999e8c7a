package claude

import (
	"path"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// managedParts is where a machine has parts for every user of Claude.
const managedParts = "/etc/claude-code/.claude"

// parts are those that Claude reads from files.
var parts = []agent.Part{agent.Skills, agent.Agents, agent.Commands}

// fronts leave out what brings hooks (hooks), servers (mcpServers) and permissions
// (allowed-tools, permissionMode), and everything that is not known. tools of an agent are
// a choice among those that the conversation has.
var fronts = map[agent.Part]clean.Rule{
	agent.Skills:   {Plain: append([]string{"name"}, command...)},
	agent.Commands: {Plain: command},
	agent.Agents: {
		Plain: []string{"name", "description", "model", "color", "effort", "maxTurns", "skills"},
		Tools: []string{"tools", "disallowedTools"},
	},
}

var command = []string{
	"description", "when_to_use", "argument-hint", "arguments", "model", "effort", "disable-model-invocation", "user-invocable", "version", "license",
}

// addPlugin gives Claude the parts where no file can be shown as the machine's. Their names
// then have that of the plugin in front of them.
func addPlugin(k *agent.Kit, o agent.Order) {
	if len(o.Items) == 0 {
		return
	}
	for _, part := range parts {
		k.AddItems(o, part, path.Join("plugin", string(part)))
	}
	k.AddFile("plugin/.claude-plugin/plugin.json", []byte(`{"name":"cordon","version":"1.0.0","description":"Your skills, agents and commands."}`+"\n"))
	k.Argv = append(k.Argv, "--plugin-dir", path.Join(o.Place, "plugin"))
}
