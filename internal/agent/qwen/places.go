package qwen

import (
	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// user is what Qwen Code reads in the home, and project what it reads in a repository. In a directory
// that is not trusted it has no commands, whosever they are.
var (
	user = agent.Places{
		Instructions: []string{".qwen/QWEN.md"},
		Skills:       []agent.Folder{{At: ".qwen/skills"}, {At: ".agents/skills"}},
		Agents:       []agent.Folder{{At: ".qwen/agents", Ext: ".md"}},
	}
	project = agent.Places{
		Skills: []agent.Folder{{At: ".qwen/skills"}, {At: ".agents/skills"}},
		Agents: []agent.Folder{{At: ".qwen/agents", Ext: ".md"}},
	}
)

// fronts leave out hooks, permissions (allowedTools, approvalMode) and servers.
var fronts = map[agent.Part]clean.Rule{
	agent.Skills: {Plain: []string{
		"name", "description", "license", "version", "argument-hint", "when_to_use", "disable-model-invocation", "user-invocable", "priority",
	}},
	agent.Agents: {Plain: []string{"name", "description", "model", "color"}, Tools: []string{"tools", "disallowedTools"}},
}
