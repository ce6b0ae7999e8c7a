package qwen

import "cordon/internal/agent"

// user is what Qwen Code reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".qwen/QWEN.md"},
		Skills:       []agent.Folder{{At: ".qwen/skills"}},
		Agents:       []agent.Folder{{At: ".qwen/agents", Ext: ".md"}},
		Commands:     []agent.Folder{{At: ".qwen/commands", Ext: ".md", Deep: true}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".qwen/skills"}},
		Agents:   []agent.Folder{{At: ".qwen/agents", Ext: ".md"}},
		Commands: []agent.Folder{{At: ".qwen/commands", Ext: ".md", Deep: true}},
	}
)
