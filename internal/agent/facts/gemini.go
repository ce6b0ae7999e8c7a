package facts

var gemini = Client{
	Name: "gemini", Title: "Gemini CLI",
	Models: Models{"google", "2026-11-15", "Gemini models, and clients that are signed in to them", []Domain{
		{"generativelanguage.googleapis.com", "the models, with an API key"},
		{"cloudcode-pa.googleapis.com", "the models, with a Google account"},
		{"oauth2.googleapis.com", "new tokens for a client that is signed in"},
	}},
	Protected: []string{".gemini"},
	Obeyed:    []string{"GEMINI.md", ".agents"},
	Logins: []string{
		"~/.gemini/oauth_creds.json", "~/.gemini/google_accounts.json", "~/.gemini/google_account_id", "~/.gemini/gemini-credentials.json",
		"~/.gemini/mcp-oauth-tokens*.json", "~/.gemini/a2a-oauth-tokens*.json", "~/.gemini/.env", "~/.gemini/settings.json", "~/.gemini/tmp",
		"~/.gemini/history", "~/.gemini/antigravity", "~/.antigravity",
	},
	Trusted: []string{
		".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/extensions", ".gemini/commands", ".gemini/hooks", ".gemini/trustedFolders.json",
	},
	Variables: []string{"GEMINI_*"},
	Kept: []Kept{
		{"GEMINI_CLI", ownSession},
		{"GEMINI_SANDBOX*", "starts a container, which a cell does not allow"},
	},
	Moved: []Moved{{"GEMINI_CLI_HOME/.gemini", ".gemini"}},
}
