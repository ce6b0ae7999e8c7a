package facts

var codex = Client{
	Name: "codex", Title: "Codex",
	Models: Models{"openai", "2026-11-15", "OpenAI models, and clients that are signed in to them", []Domain{
		{"api.openai.com", "the models, with an API key"},
		{"chatgpt.com", "the models, with a subscription"},
		{"auth.openai.com", "new tokens for a client that is signed in"},
	}},
	Protected: []string{".codex"},
	Obeyed:    []string{"AGENTS.md", "AGENTS.override.md", ".agents"},
	Logins: []string{
		"~/.codex/auth.json", "~/.codex/.credentials.json", "~/.codex/config.toml", "~/.codex/history.jsonl", "~/.codex/sessions",
		"~/.codex/archived_sessions", "~/.codex/log", "~/.codex/shell_snapshots",
	},
	Trusted:   []string{".codex/config.toml", ".codex/AGENTS*.md", ".codex/hooks*", ".codex/prompts", ".codex/rules", ".codex/skills"},
	Variables: []string{"CODEX_*", "OPENAI_*"},
	Kept:      []Kept{{"CODEX_SANDBOX*", ownSession}, {"CODEX_THREAD*", ownSession}},
	Moved:     []Moved{{"CODEX_HOME", ".codex"}},
	Asks:      []Domain{{"raw.githubusercontent.com", "an announcement, when it starts on a terminal"}},
}
