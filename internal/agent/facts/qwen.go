package facts

var qwen = Client{
	Name: "qwen", Title: "Qwen Code",
	Models: Models{"qwen", "2026-11-16", "Qwen models, and clients that are signed in to them", []Domain{
		{"dashscope.aliyuncs.com", "the models, with an API key"},
		{"dashscope-intl.aliyuncs.com", "the models, outside of China"},
		{"coding.dashscope.aliyuncs.com", "the models, with a coding plan"},
		{"coding-intl.dashscope.aliyuncs.com", "a coding plan outside of China"},
		{"portal.qwen.ai", "the models, with a Qwen account"},
		{"chat.qwen.ai", "new tokens for a client that is signed in"},
	}},
	Protected: []string{".qwen"},
	Obeyed:    []string{"QWEN.md", "AGENTS.md", ".agents"},
	Logins: []string{
		"~/.qwen/oauth_creds.json", "~/.qwen/mcp-oauth-tokens*.json", "~/.qwen/.env", "~/.qwen/settings.json", "~/.qwen/tmp", "~/.qwen/projects",
	},
	Trusted: []string{
		".qwen/settings.json", ".qwen/QWEN.md", ".qwen/AGENTS.md", ".qwen/extensions", ".qwen/commands", ".qwen/agents", ".qwen/skills",
		".qwen/rules", ".qwen/trustedFolders.json",
	},
	Variables: []string{"QWEN_*", "DASHSCOPE_*"},
	Kept: []Kept{
		{"QWEN_CODE_SESSION*", ownSession},
		{"QWEN_CODE_CLI*", ownSession},
		{"QWEN_CODE_IDE*", "leads to the operator's editor"},
		{"QWEN_DAEMON*", "leads to the operator's own session"},
		{"QWEN_SERVE*", "leads to the operator's own session"},
		{"QWEN_SANDBOX*", "starts a container, which a cell does not allow"},
	},
	Moved: []Moved{{"QWEN_HOME", ".qwen"}},
}
