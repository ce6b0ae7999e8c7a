package policy

import (
	"slices"

	"cordon/internal/agent/facts"
)

// agentLogins are the files that agent clients sign in with, by the program's name, with
// the sessions and settings in which people leave keys. Programs and caches that lie in
// the same directories stay readable. Those of the clients that cordon can start come
// from package facts; the client that cordon run starts gets a copy of its own, and
// everything else sees none.
var agentLogins = []struct {
	programs []string
	entries  []string
}{
	{[]string{"goose"}, []string{"~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"}},
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
	for _, c := range facts.All() {
		all = append(all, c.Logins...)
	}
	for _, c := range agentLogins {
		all = append(all, c.entries...)
	}
	return all
}

// LoginsOf are the built-in rows that hide what an agent client signs in with, by the
// name of its program; none for a program that is not known as one.
func LoginsOf(program string) []string {
	for _, c := range facts.All() {
		if c.Name == program {
			return c.Logins
		}
	}
	for _, c := range agentLogins {
		if slices.Contains(c.programs, program) {
			return c.entries
		}
	}
	return nil
}
