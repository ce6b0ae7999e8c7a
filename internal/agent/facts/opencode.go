package facts

var openCode = Client{
	Name: "opencode", Title: "OpenCode",
	Models: Models{"opencode", "2026-11-15", "models of OpenCode's own gateway", []Domain{
		{"opencode.ai", "the models"},
	}},
	AnyProvider: true,
	Protected:   []string{".opencode", "opencode.json", "opencode.jsonc"},
	Obeyed:      []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md", ".agents"},
	Logins: []string{
		"~/.local/share/opencode", "~/.local/state/opencode", "~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc",
		"~/.config/opencode/config.json",
	},
	Trusted: []string{
		".config/opencode/opencode.json*", ".config/opencode/AGENTS.md", ".config/opencode/plugin*", ".config/opencode/command*",
		".config/opencode/agent*", ".config/opencode/tool*",
	},
	Variables: []string{"OPENCODE_*"},
	Kept:      []Kept{{"OPENCODE_SERVER*", "leads to the operator's own session"}},
	Moved:     []Moved{{"OPENCODE_CONFIG_DIR", ".config/opencode"}},
}
