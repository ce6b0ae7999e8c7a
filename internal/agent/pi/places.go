package pi

import "cordon/internal/agent"

// user is what pi reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".pi/agent/AGENTS.md"},
		Skills:       []agent.Folder{{At: ".pi/agent/skills"}},
		Commands:     []agent.Folder{{At: ".pi/agent/prompts", Ext: ".md"}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".pi/skills"}},
		Commands: []agent.Folder{{At: ".pi/prompts", Ext: ".md"}},
	}
)
