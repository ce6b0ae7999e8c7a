package facts

var copilot = Client{
	Name: "copilot", Title: "Copilot CLI",
	Models: Models{"copilot", "2026-11-15", "Copilot models, and clients that are signed in to them", []Domain{
		{"api.githubcopilot.com", "the models"},
		{"api.individual.githubcopilot.com", "the models, for a person"},
		{"api.business.githubcopilot.com", "the models, for a business"},
		{"api.enterprise.githubcopilot.com", "the models, for an enterprise"},
		{"api.github.com", "the account, and new tokens"},
	}},
	Protected: []string{".copilot", ".github/hooks"},
	Obeyed: []string{
		"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".agents", ".github/copilot-instructions.md", ".github/instructions", ".github/agents",
		".github/prompts", ".github/skills",
	},
	Logins: []string{
		"~/.copilot/config.json", "~/.copilot/settings.json", "~/.copilot/mcp-config.json", "~/.copilot/mcp-oauth-config", "~/.copilot/session-state",
		"~/.copilot/history-session-state", "~/.copilot/command-history-state.json", "~/.copilot/session-store.db", "~/.copilot/logs",
		"~/.config/github-copilot",
	},
	Trusted: []string{
		".copilot/mcp-config.json", ".copilot/hooks", ".copilot/agents", ".copilot/skills", ".copilot/copilot-instructions.md",
	},
	Variables: []string{"COPILOT_*"},
	Moved:     []Moved{{"COPILOT_HOME", ".copilot"}},
}
