package facts

var claude = Client{
	Name: "claude", Title: "Claude Code",
	Models: Models{"anthropic", "2026-11-15", "Claude models, and clients that are signed in to them", []Domain{
		{"api.anthropic.com", "the models"},
		{"platform.claude.com", "new tokens for a client that is signed in"},
	}},
	Protected: []string{".claude"},
	Obeyed:    []string{"CLAUDE.md", "CLAUDE.local.md", ".mcp.json"},
	Logins: []string{
		"~/.claude/.credentials.json", "~/.claude.json", "~/.claude.json.backup*", "~/.claude/.claude.json", "~/.claude/.claude.json.backup*",
		"~/.claude/backups", "~/.claude/history.jsonl", "~/.claude/projects", "~/.claude/shell-snapshots", "~/.claude/session-env",
		"~/.claude/paste-cache", "~/.claude/file-history", "~/.claude/debug", "~/.config/claude", "~/.config/Claude",
	},
	// ~/.claude.json is left out: the client writes it all the time.
	Trusted: []string{
		".claude/settings*.json", ".claude/CLAUDE.md", ".claude/hooks", ".claude/commands", ".claude/agents", ".claude/skills",
		".claude/output-styles", ".claude/rules",
	},
	Variables: []string{"ANTHROPIC_*", "CLAUDE_*"},
	AskedKey:  "ANTHROPIC_API_KEY",
	Kept: []Kept{
		{"CLAUDE_CODE_ENTRYPOINT", ownSession},
		{"CLAUDE_CODE_SSE_PORT", "leads to the operator's editor"},
		{"CLAUDE_CODE_SESSION*", ownSession},
		{"CLAUDE_CODE_REMOTE*", ownSession},
		{"CLAUDE_ENV_FILE", "is a file of the operator's own session"},
		{"CLAUDE_PROJECT_DIR", "is where the operator's own session works"},
	},
	Moved: []Moved{{"CLAUDE_CONFIG_DIR", ".claude"}},
}
