package gemini

import (
	"encoding/json"
	"path"
	"strings"

	"cordon/internal/agent"
)

const (
	// managed is read with the highest rank, if it and all directories above it
	// are root's: nobody else's are in a cell whose operator is not root.
	managed     = "/etc/gemini-cli/settings.json"
	ownSettings = ".gemini/settings.json"
	// variablesFile is a file of a directory that is trusted, and of those above it:
	// the first that is found is read, over no variable that is there.
	variablesFile = ".gemini/.env"
	// projectName is where it keeps what is about the tree.
	projectName = "tree"
)

// Client is the Gemini CLI.
var Client = agent.Adapter{
	Name: "gemini", Dialect: &dialect, Stream: &form, Program: "gemini", Package: "@google/gemini-cli",
	Oldest: agent.Version{0, 61, 0}, Tested: agent.Version{0, 61, 0},
	Preset: "@google",
	SignIn: "start gemini in a terminal and type /auth, or export GEMINI_API_KEY",
	Variables: []string{
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_API_VERSION",
		"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
	},
	Addresses: []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL"},
	Logins: []agent.Login{
		{From: ".gemini/oauth_creds.json", At: ".gemini/oauth_creds.json"},
		{From: ".gemini/google_accounts.json", At: ".gemini/google_accounts.json"},
	},
	Config: []string{ownSettings},
	Hidden: []string{".gemini"},
	User:   user, ProjectParts: project,
	ServerFiles: []string{ownSettings}, Fronts: fronts, CleanCommand: cleanCommand, ReadServers: readServers, Expand: agent.Expanded,
	Managed: []string{managed},
	Project: []string{variablesFile},
	Keep:    []string{".gemini/tmp/" + projectName + "/chats"},
	Record: &agent.Record{
		Files: []string{".gemini/tmp/" + projectName + "/chats/*.jsonl"},
		Quiet: []string{`{"$set":`, `"kind":"main"`},
		Calls: []string{`"toolCalls":[{`, `"functionCall":{`},
	},
	Starts: true,
	Choices: []agent.Choice{
		{File: ownSettings, Key: "model.name", Fits: agent.ModelName}, {File: ownSettings, Key: "ui.theme", Fits: agent.Language},
		{File: ownSettings, Key: "general.vimMode", Fits: agent.Switch}, {File: ownSettings, Key: "ui.inlineThinkingMode", Fits: agent.Word},
	},
	Unused: []agent.Unused{
		{File: ownSettings, Key: "hooks", Noun: "hooks"},
		{File: ownSettings, Key: "tools.discoveryCommand", Noun: "a command that finds tools"},
	},
	Adjust:  chooseThinking,
	Forbids: "it sets the client's variables, which could switch the guard off",
	Build:   build, Permissions: policyRules, Refused: refused, Passed: passed,
}

// build starts Gemini so that its hooks stand in two layers. It takes the system
// settings only from files of root, and says no more than a line about others; so
// the settings of its own home, which are the kit's too, hold the same hooks under
// the same names, and it runs each of them once.
//
// With --skip-trust it has read its settings before it trusts the directory: the
// project's own, which could switch the hooks off, are not among them, and its
// GEMINI.md is. It asks nobody, because the cell holds.
func build(o agent.Order) (agent.Kit, error) {
	k := agent.Kit{Stream: !o.Interactive, Env: environment(o)}
	if err := addSettings(&k, o); err != nil {
		return agent.Kit{}, err
	}
	rules, err := policyRules(o.Rules)
	if err != nil {
		return agent.Kit{}, err
	}
	k.AddFile("policy.toml", append(rules, commandRules(o.Items)...))
	o.Items = besidesTree(o.Items)
	k.AddFile("trusted.json", []byte("{}\n"))
	k.AddBriefing(o, ".gemini/GEMINI.md")
	for _, part := range []agent.Part{agent.Skills, agent.Agents, agent.Commands} {
		k.LinkFolder(o, part, path.Join(".gemini", string(part)))
	}
	if err := k.AddSeed(".gemini/projects.json", agent.Nested(projectName, "projects", o.Tree)); err != nil {
		return agent.Kit{}, err
	}
	k.Argv = append([]string{o.Program}, o.Args...)
	k.Argv = append(k.Argv, "--skip-trust", "--approval-mode=yolo", "--extensions=none", "--admin-policy="+path.Join(o.Place, "policy.toml"))
	if o.Again {
		k.Argv = append(k.Argv, "--resume=latest")
	}
	return k, k.AddPrompt(o, promptFlags)
}

var promptFlags = agent.PromptFlags{Headless: []string{"--output-format=stream-json"}, Prompt: "--prompt", Interactive: "--prompt-interactive"}

// addSettings adds the settings, which hold the hooks.
func addSettings(k *agent.Kit, o agent.Order) error {
	hooks, err := agent.HookSettings(o.Wiring())
	if err != nil {
		return err
	}
	own, err := o.Kept(ownSettings, "security")
	if err != nil {
		return err
	}
	lower, err := o.MachineSettings(managed)
	if err != nil {
		return err
	}
	all := lower
	for _, upper := range []map[string]any{chosenLogin(own), o.Chosen.Settings(), pinnedSettings(o.Rules), hooks} {
		all = agent.Over(all, upper)
	}
	text, err := agent.Compact(o.WithServers(all, "mcpServers", serverForm))
	if err != nil {
		return err
	}
	const name = "gemini.json"
	k.AddFile(name, append(text, '\n'))
	k.Links = append(k.Links, agent.Link{Name: ownSettings, To: path.Join(o.Place, name)})
	if o.Managed {
		k.Shown = []agent.Shown{{Name: name, At: managed}}
		// Above the tree is the home, where a launch before could write. The search ends
		// with the first file that is found.
		k.AddFile("none.env", nil)
		k.Shown = append(k.Shown, agent.Shown{Name: "none.env", At: path.Join(path.Dir(o.Tree), variablesFile)})
	}
	return nil
}

// chosenLogin is how the operator signs in.
func chosenLogin(own map[string]any) map[string]any {
	const unset = "gemini-api-key" // without a word it would take another address for a gateway, which it then refuses
	if v, ok := agent.Inside(own, "security", "auth", "selectedType").(string); ok {
		return agent.Nested(v, "security", "auth", "selectedType")
	}
	return agent.Nested(unset, "security", "auth", "selectedType")
}

// pinnedSettings is what no layer below says otherwise.
func pinnedSettings(r agent.Rules) map[string]any {
	off := map[string]any{"enabled": false}
	return map[string]any{
		// Google's servers would fetch otherwise, and the client only where they fail.
		"experimental": map[string]any{"directWebFetch": !r.Web},
		"hooksConfig":  map[string]any{"notifications": false},
		"general":      map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":      map[string]any{"usageStatisticsEnabled": false},
		"telemetry":    off,
		"advanced":     map[string]any{"ignoreLocalEnv": true},
		"tools":        map[string]any{"sandbox": false}, // it cannot be made in a cell
		"security": map[string]any{
			"folderTrust":                  map[string]any{"enabled": true},
			"environmentVariableRedaction": map[string]any{"enabled": false}, // the hook's own would be among them
		},
	}
}

// environment keeps the client's state together, and empties the variables that trust
// the directory, read settings from elsewhere or put another prompt in the place of
// the client's. A variable that is there is not read from a project's .env.
func environment(o agent.Order) []string {
	settings := path.Join(o.Place, "gemini.json")
	if o.Managed {
		settings = managed
	}
	return []string{
		"GEMINI_CLI_HOME=" + o.State,
		"GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + settings,
		"GEMINI_CLI_SYSTEM_DEFAULTS_PATH=" + path.Join(o.Place, "none.json"),
		"GEMINI_CLI_TRUSTED_FOLDERS_PATH=" + path.Join(o.Place, "trusted.json"),
		"GEMINI_CLI_TRUST_WORKSPACE=", "GEMINI_RESTRICTED_MODE=", "GEMINI_SYSTEM_MD=", "GEMINI_SANDBOX=", "SANDBOX=",
		"GEMINI_TELEMETRY_ENABLED=false",
	}
}

var refused = [][2]string{
	{"--skip-trust", "is set by cordon"},
	{"--worktree", "would work in a tree other than the leased one"}, {"-w", "would work in a tree other than the leased one"},
	{"--policy", "would override the rules of the lease"}, {"--admin-policy", "would override the rules of the lease"},
	{"--allowed-tools", "would override the rules of the lease"},
	{"--extensions", "could add hooks that change allowed calls"}, {"-e", "could add hooks that change allowed calls"},
	{"--include-directories", "is decided by the lease: the policy says what the agent may read and write"},
	{"--sandbox", "cannot work in a cell, which is the sandbox"}, {"-s", "cannot work in a cell, which is the sandbox"},
	{"--approval-mode", "is set by cordon"}, {"--yolo", "is set by cordon"}, {"-y", "is set by cordon"},
	{"--output-format", "is set by cordon"}, {"-o", "is set by cordon"},
	{"--prompt", "goes behind --"}, {"-p", "goes behind --"}, {"--prompt-interactive", "goes behind --"}, {"-i", "goes behind --"},
	{"--resume", "is set by cordon"}, {"-r", "is set by cordon"}, {"--session-file", "is set by cordon"},
	{"--acp", "starts a server, not an agent"}, {"--experimental-acp", "starts a server, not an agent"},
}

var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "-m", Values: 1}, {Flag: "--debug"}, {Flag: "-d"}, {Flag: "--screen-reader"},
}

// policyRules are the rules of the policy engine, which holds them after the hooks
// and whatever the mode. Its file tools stay in the workspace by themselves. There
// is no rule about commands: they would have to be understood.
func policyRules(r agent.Rules) ([]byte, error) {
	p := policy{}
	p.WriteString("# The permissions of the lease.\n")
	const (
		writes = `["write_file", "replace"]`
		reads  = `["read_file", "read_many_files", "list_directory", "glob", "grep_search"]`
		file   = `"file_path":"`
	)
	inTree := "(?:" + simpleExpression(agent.EscapeGlob(r.Tree)) + `/|\./|)`
	p.deny(writes, file+`(?:[^"]*/|)\.\.(?:/|")`, "a path that contains .. cannot be compared with the lease")
	var roots []string
	for _, w := range r.Write {
		roots = append(roots, expression(w))
	}
	p.deny(writes, file+"(?!"+inTree+"(?:"+strings.Join(roots, "|")+`)")`, "the lease does not allow writing it")
	for _, d := range r.DenyWrite {
		p.deny(writes, file+inTree+expression(d)+`"`, "the lease does not allow writing it")
	}
	for _, d := range r.DenyRead {
		p.deny(reads, `"(?:file_path|dir_path)":"`+expression(d)+`"`, "the lease does not allow reading it")
	}
	if !r.Web {
		p.never("google_web_search", "Google's servers search, past the network of the lease: the operator allows it with agent.web: true in the policy")
	}
	return []byte(p.String()), nil
}

// policy is a file of rules.
type policy struct{ strings.Builder }

// longestPattern is what the client reads of one.
const longestPattern = 2048

// deny refuses calls of tools whose arguments match.
func (p *policy) deny(tools, pattern, why string) {
	if len(pattern) > longestPattern {
		p.WriteString("\n# A rule is too long for this client; the guard holds it.\n")
		return
	}
	p.WriteString("\n[[rule]]\ntoolName = " + tools + "\nargsPattern = " + tomlText(pattern) +
		"\ndecision = \"deny\"\npriority = 900\ndenyMessage = " + tomlText("BLOCKED: "+why) + "\n")
}

// never refuses every call of a tool.
func (p *policy) never(tool, why string) {
	p.WriteString("\n[[rule]]\ntoolName = " + tomlText(tool) + "\ndecision = \"deny\"\npriority = 900\ndenyMessage = " + tomlText("BLOCKED: "+why) + "\n")
}

// tomlText is a string of TOML.
func tomlText(s string) string {
	quoted, _ := json.Marshal(s) // a basic string has the same escapes
	return string(quoted)
}
