package facts

var pi = Client{
	Name: "pi", Title: "pi",
	// It has no models of its own. Those of makers have presets of their own, which a policy names.
	Models: Models{"openrouter", "2026-11-16", "models of OpenRouter's gateway", []Domain{
		{"openrouter.ai", "the models"},
	}},
	AnyProvider: true,
	Protected:   []string{".pi"},
	Obeyed:      []string{"AGENTS.md", "CLAUDE.md", ".agents"},
	Logins: []string{
		"~/.pi/agent/auth.json", "~/.pi/agent/models.json", "~/.pi/agent/settings.json", "~/.pi/agent/sessions", "~/.pi/agent/pi-debug.log",
	},
	Trusted: []string{
		".pi/agent/settings.json", ".pi/agent/models.json", ".pi/agent/AGENTS.md", ".pi/agent/CLAUDE.md", ".pi/agent/SYSTEM.md",
		".pi/agent/APPEND_SYSTEM.md", ".pi/agent/extensions", ".pi/agent/skills", ".pi/agent/prompts", ".pi/agent/npm", ".pi/agent/git",
	},
	Variables: []string{"PI_*"},
	Moved:     []Moved{{"PI_CODING_AGENT_DIR", ".pi/agent"}},
}
