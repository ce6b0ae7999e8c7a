package policy

import "slices"

// agentLogins are the files that agent clients sign in with, by the program's name, with
// the sessions and settings in which people leave keys. The client that cordon run starts
// gets a copy of its own; everything else sees none. Programs and caches that lie in the
// same directories stay readable.
var agentLogins = []struct {
	programs []string
	entries  []string
}{
	{[]string{"claude"}, []string{
		"~/.claude/.credentials.json", "~/.claude.json", "~/.claude.json.backup*", "~/.claude/.claude.json", "~/.claude/.claude.json.backup*",
		"~/.claude/backups", "~/.claude/history.jsonl", "~/.claude/projects", "~/.claude/shell-snapshots", "~/.claude/session-env",
		"~/.claude/paste-cache", "~/.claude/file-history", "~/.claude/debug", "~/.config/claude", "~/.config/Claude",
	}},
	{[]string{"codex"}, []string{
		"~/.codex/auth.json", "~/.codex/.credentials.json", "~/.codex/config.toml", "~/.codex/history.jsonl", "~/.codex/sessions",
		"~/.codex/archived_sessions", "~/.codex/log", "~/.codex/shell_snapshots",
	}},
	{[]string{"gemini"}, []string{
		"~/.gemini/oauth_creds.json", "~/.gemini/google_accounts.json", "~/.gemini/google_account_id", "~/.gemini/gemini-credentials.json",
		"~/.gemini/mcp-oauth-tokens*.json", "~/.gemini/a2a-oauth-tokens*.json", "~/.gemini/.env", "~/.gemini/settings.json", "~/.gemini/tmp",
		"~/.gemini/history", "~/.gemini/antigravity", "~/.antigravity",
	}},
	{[]string{"opencode"}, []string{
		"~/.local/share/opencode", "~/.local/state/opencode", "~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc", "~/.config/opencode/config.json",
	}},
	{[]string{"copilot"}, []string{
		"~/.copilot/config.json", "~/.copilot/settings.json", "~/.copilot/mcp-config.json", "~/.copilot/mcp-oauth-config", "~/.copilot/session-state",
		"~/.copilot/history-session-state", "~/.copilot/command-history-state.json", "~/.copilot/session-store.db", "~/.copilot/logs", "~/.config/github-copilot",
	}},
	{[]string{"goose"}, []string{"~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"}},
	{[]string{"qwen"}, []string{"~/.qwen/oauth_creds.json", "~/.qwen/mcp-oauth-tokens*.json", "~/.qwen/.env", "~/.qwen/settings.json", "~/.qwen/tmp", "~/.qwen/projects"}},
	{[]string{"iflow"}, []string{"~/.iflow/oauth_creds.json", "~/.iflow/iflow_accounts.json", "~/.iflow/settings.json", "~/.iflow/.env"}},
	{[]string{"amp"}, []string{"~/.local/share/amp", "~/.config/amp", "~/.cache/amp/logs"}},
	{[]string{"cline"}, []string{"~/.cline"}},
	{[]string{"roo", "kilocode", "kilo"}, []string{"~/.roo", "~/.kilocode", "~/.config/kilo", "~/.local/share/kilo"}},
	{[]string{"cursor-agent", "cursor"}, []string{"~/.config/cursor", "~/.cursor/cli-config.json", "~/.cursor/mcp.json", "~/.cursor/chats", "~/.cursor/projects"}},
	{[]string{"aider"}, []string{"~/.aider", "~/.aider.conf.yml", "~/.aider.chat.history.md", "~/.aider.input.history", "~/.aider.model.settings.yml"}},
	{[]string{"cn", "continue"}, []string{"~/.continue"}},
	{[]string{"windsurf", "codeium"}, []string{"~/.codeium", "~/.windsurf", "~/.config/Windsurf/User/globalStorage"}},
	{[]string{"crush"}, []string{"~/.local/share/crush", "~/.config/crush"}},
	{[]string{"kiro", "kiro-cli", "q", "qchat"}, []string{"~/.kiro", "~/.local/share/kiro-cli", "~/.local/share/amazon-q", "~/.config/kiro-cli"}},
	{[]string{"droid"}, []string{"~/.factory"}},
	{[]string{"kimi"}, []string{"~/.kimi", "~/.kimi-cli", "~/.config/kimi"}},
	{[]string{"grok"}, []string{"~/.grok"}},
	{[]string{"vibe"}, []string{"~/.vibe/.env", "~/.vibe/config.toml", "~/.vibe/logs"}},
	{[]string{"pi"}, []string{"~/.pi/agent/auth.json", "~/.pi/agent/models.json", "~/.pi/agent/sessions"}},
	{[]string{"auggie"}, []string{"~/.augment"}},
	{[]string{"junie"}, []string{"~/.junie"}},
	{[]string{"trae", "trae-cli"}, []string{"~/.trae", "~/.config/Trae/User/globalStorage"}},
	{[]string{"qodo"}, []string{"~/.qodo"}},
	{[]string{"acli", "rovodev"}, []string{"~/.rovodev", "~/.config/acli"}},
	{[]string{"openhands"}, []string{"~/.openhands", "~/.openhands-state"}},
	{[]string{"cody"}, []string{"~/.config/cody", "~/.config/sourcegraph"}},
	{[]string{"codebuff"}, []string{"~/.config/manicode", "~/.config/codebuff"}},
	{[]string{"plandex"}, []string{"~/.plandex-home", "~/.plandex-home-v2"}},
	{[]string{"warp", "oz"}, []string{"~/.local/state/warp-terminal", "~/.warp"}},
	{[]string{"zed"}, []string{"~/.config/zed/settings.json", "~/.local/share/zed/threads"}},
	{[]string{"llm", "mods", "aichat", "sgpt", "gptme", "fabric", "interpreter"}, []string{
		"~/.config/io.datasette.llm", "~/.config/mods", "~/.config/aichat", "~/.config/shell_gpt", "~/.config/gptme", "~/.config/fabric", "~/.config/open-interpreter",
	}},
	{[]string{"ollama"}, []string{"~/.ollama/id_ed25519"}},
	{[]string{"tabnine"}, []string{"~/.tabnine", "~/.config/TabNine"}},
	{[]string{"mcp-remote"}, []string{"~/.mcp-auth"}},
}

func allAgentLogins() (all []string) {
	for _, c := range agentLogins {
		all = append(all, c.entries...)
	}
	return all
}

// LoginsOf are the built-in rows that hide what an agent client signs in with, by the
// name of its program; none for a program that is not known as one.
func LoginsOf(program string) []string {
	for _, c := range agentLogins {
		if slices.Contains(c.programs, program) {
			return c.entries
		}
	}
	return nil
}
