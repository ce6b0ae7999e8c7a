package copilot

import (
	"cmp"
	"encoding/json"
	"path"

	"cordon/internal/agent"
	"cordon/internal/client"
)

// ownConfig holds who is signed in, and also which directories are trusted.
const ownConfig = ".copilot/config.json"

// ownSettings holds the model and how much it thinks.
const ownSettings = ".copilot/settings.json"

// Client is the Copilot CLI.
var Client = agent.Adapter{
	Name: "copilot", Dialect: &dialect, Stream: &form, Program: "copilot", Package: "@github/copilot",
	Oldest: agent.Version{1, 0, 102}, Tested: agent.Version{1, 0, 102},
	Preset:        "@copilot",
	SignIn:        "start copilot in a terminal and type /login, or export COPILOT_GITHUB_TOKEN",
	LoginSettings: []agent.Setting{{File: ownConfig, Key: "authTokens"}, {File: ownConfig, Key: "copilotTokens"}},
	KeyCommands:   keyCommands,
	Variables: []string{
		"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_GH_HOST", "COPILOT_MODEL", "COPILOT_OFFLINE",
		"COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_WIRE_API",
		"COPILOT_PROVIDER_TRANSPORT", "COPILOT_PROVIDER_AZURE_API_VERSION", "COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL",
		"COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", "COPILOT_PROVIDER_HEADERS",
	},
	Addresses: []string{"COPILOT_PROVIDER_BASE_URL", "GH_HOST", "COPILOT_GH_HOST"},
	Config:    []string{ownConfig},
	Hidden:    []string{".copilot"},
	User:      user, ProjectParts: project, ServerFiles: []string{ownServers}, Fronts: fronts, ReadServers: readServers, Expand: agent.Expanded,
	Project: []string{
		".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json",
		".github/hooks/*.json",
	},
	ProjectServers: []string{".mcp.json", ".github/mcp.json"},
	ProjectAgents:  []string{".github/agents/*.md", ".claude/agents/*.md"},
	WithoutServer:  func(name string) string { return "--disable-mcp-server=" + name },
	Keep:           []string{"session-state/*/events.jsonl", "session-state/*/workspace.yaml"},
	Record: &agent.Record{
		Files: []string{"session-state/*/events.jsonl"},
		Quiet: []string{`{"type":"session.`, `{"type":"hook.`},
		Calls: []string{`{"type":"tool.execution_start"`},
	},
	Starts: true, Unpacks: &unpacking,
	Choices: []agent.Choice{
		{File: ownConfig, Key: "model", Fits: agent.ModelName}, // where earlier versions kept it
		{File: ownSettings, Key: "model", Fits: agent.ModelName}, {File: ownSettings, Key: "effortLevel", Fits: agent.Word},
		{File: ownSettings, Key: "contextTier", Fits: agent.Word}, {File: ownSettings, Key: "autoTier", Fits: agent.Word},
		{File: ownSettings, Key: "theme", Fits: agent.Word},
	},
	Unused: []agent.Unused{
		{File: ownSettings, Key: "hooks", Noun: "hooks"}, {File: ownSettings, Key: "statusLine", Noun: "status line"},
		{File: ownSettings, Key: "allowedUrls", Noun: "allowed URLs"},
	},
	Build: build, Permissions: permissions, Objects: objections, Refused: refused, Passed: passed,
}

// objections: in a terminal the client asks whether the directory is trusted, and
// works in no other. A project that is trusted can switch all hooks off.
func objections(interactive bool, settings map[string]any) string {
	switch {
	case !interactive:
	case settings["disableAllHooks"] != nil && settings["disableAllHooks"] != false:
		return "it switches the guard's hooks off once the directory is trusted, and in a terminal the client works only in trusted directories"
	case settings["hooks"] != nil || settings["disabledHooks"] != nil:
		return "its hooks can change allowed calls once the directory is trusted, and in a terminal the client works only in trusted directories"
	}
	return ""
}

// build starts Copilot with a plugin whose hooks are the guard's. Without a terminal it
// never trusts the directory: a project that is trusted can switch all hooks off and bring
// its own. In a terminal it works in no other directory, see objections. What it keeps is cleared of whatever would do the same at the next start.
// Its own servers are left out: they act on GitHub with the operator's name.
func build(o agent.Order) (agent.Kit, error) {
	k := agent.Kit{Stream: !o.Interactive, Env: environment(o)}
	hooks, err := addHooks(&k, o)
	if err != nil {
		return agent.Kit{}, err
	}
	k.AddFile("plugin/plugin.json", []byte(`{"name":"cordon","version":"1.0.0","description":"Asks cordon about every tool call.","hooks":"hooks.json"}`+"\n"))
	k.AddFile("plugin/hooks.json", append(hooks, '\n'))
	if err := addState(&k, o); err != nil {
		return agent.Kit{}, err
	}
	k.Argv = append([]string{o.Program}, o.Args...)
	k.Argv = append(k.Argv, "--plugin-dir="+path.Join(o.Place, "plugin"), "--no-auto-update", "--no-remote", "--no-remote-export", "--disable-builtin-mcps",
		"--disable-client-telemetry", "--no-bash-env", "--allow-all-tools", "--allow-all-paths", "--allow-all-urls")
	k.Argv = append(k.Argv, denyRules(o.Rules)...)
	servers, err := k.AddServers(o, serverForm)
	if err != nil {
		return agent.Kit{}, err
	}
	if servers != "" {
		k.Argv = append(k.Argv, "--additional-mcp-config=@"+servers)
	}
	if o.Again {
		k.Argv = append(k.Argv, "--continue")
	}
	return k, k.AddPrompt(o, promptFlags)
}

var promptFlags = agent.PromptFlags{Headless: []string{"--output-format=json"}, Prompt: "--prompt", Interactive: "--interactive"}

// addHooks are the guard's, and one that briefs the sub-agents: some of them are
// not shown the instructions.
func addHooks(k *agent.Kit, o agent.Order) ([]byte, error) {
	text, err := client.Config(o.Wiring())
	if err != nil || o.Briefing == "" {
		return text, err
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	told, err := agent.Compact(map[string]any{"additionalContext": o.Briefing})
	if err != nil {
		return nil, err
	}
	k.AddFile("subagent.json", append(told, '\n'))
	show := "cat " + client.Quote(path.Join(o.Place, "subagent.json"))
	brief := agent.Nested([]any{map[string]any{"type": "command", "bash": show, "timeoutSec": 10}}, "hooks", "subagentStart")
	return agent.Compact(agent.Over(brief, config))
}

// addState is what the client finds in its own directory.
func addState(k *agent.Kit, o agent.Order) error {
	config, err := o.Kept(ownConfig, "loggedInUsers", "lastLoggedInUser", "authTokens", "copilotTokens", "storeTokenPlaintext")
	if err != nil {
		return err
	}
	if o.Interactive {
		config["trustedFolders"] = []string{o.Tree}
	}
	if err := k.AddSeed("config.json", config); err != nil {
		return err
	}
	settings := map[string]any{"disableAllHooks": false, "autoUpdate": false, "ignoredSkillsLocations": ignoredSkills(o)}
	if err := k.AddSeed("settings.json", agent.Over(o.Chosen.Settings(), settings)); err != nil {
		return err
	}
	k.LinkFolder(o, agent.Skills, "skills")
	k.LinkFolder(o, agent.Agents, "agents")
	k.AddBriefing(o, "copilot-instructions.md")
	return nil
}

// unpacking: the program is an archive of 235 MiB, and the client runs what it unpacks of it. It unpacks
// nothing where its version is complete.
var unpacking = agent.Unpacking{
	Args: []string{"--binary-version"},
	Env: func(dir string) []string {
		return []string{"COPILOT_SEA_EXTRACT_ONLY=1", "COPILOT_PKG_CACHE_HOME=" + dir}
	},
	Has:    "pkg/*/*/.extraction-complete",
	Settle: []string{"help", "config"}, // the shortest way to load all of it
	SettleEnv: func(dir string) []string {
		return append(compiled(dir), "COPILOT_PKG_CACHE_HOME="+dir, "COPILOT_HOME="+path.Join(dir, "home"), "COPILOT_AUTO_UPDATE=false")
	},
}

// compiled is where node finds the client's code compiled. It finds it there also after the directory was given another name.
func compiled(dir string) []string {
	return []string{"NODE_COMPILE_CACHE=" + path.Join(dir, "compiled"), "NODE_COMPILE_CACHE_PORTABLE=1"}
}

// environment keeps the client's state together, and pins the variables that trust
// the directory, read instructions from elsewhere or run another program.
func environment(o agent.Order) []string {
	files := cmp.Or(o.Unpacked, path.Join(o.State, "package"))
	env := []string{
		"COPILOT_HOME=" + o.State,
		"COPILOT_PKG_CACHE_HOME=" + files, "COPILOT_SEA_EXTRACT_ONLY=", // it runs what is there
		"COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=false", "COPILOT_ASSISTED_APPROVAL=", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS=",
		"COPILOT_CLI_DIST_DIR=", "COPILOT_CLI_VERSION=", keyVariable + "=" + o.PrintKey(keyVariable), "COPILOT_OTEL_ENABLED=false",
	}
	if o.Unpacked != "" {
		env = append(env, compiled(files)...)
	}
	return env
}

var refused = [][2]string{
	{"--trust-folder", "lets the repository switch the guard's hooks off"},
	{"--plugin-dir", "could add hooks that change allowed calls"},
	{"--add-dir", "is decided by the lease: the policy says what the agent may read and write"},
	{"-C", "would work in a tree other than the leased one"},
	{"--additional-mcp-config", "is set by cordon: cordon run --mcp FILE copilot … names the servers"},
	{"--mcp-github-auth", "would give the operator's name to a server"},
	{"--share", "would publish the session"}, {"--share-gist", "would publish the session"},
	{"--remote", "would give the session to others"}, {"--connect", "would give the session to others"},
	{"--prompt", "goes behind --"}, {"-p", "goes behind --"}, {"--interactive", "goes behind --"}, {"-i", "goes behind --"},
	{"--resume", "is set by cordon"}, {"-r", "is set by cordon"}, {"--continue", "is set by cordon"}, {"--session-id", "is set by cordon"},
	{"--output-format", "is set by cordon"}, {"--allow-all", "is set by cordon"}, {"--yolo", "is set by cordon"},
	{"--acp", "starts a server, not an agent"},
}

var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "--agent", Values: 1}, {Flag: "--reasoning-effort", Values: 1}, {Flag: "--context", Values: 1},
	{Flag: "--auto-tier", Values: 1},
	{Flag: "--max-ai-credits", Values: 1}, {Flag: "--log-level", Values: 1}, {Flag: "--no-custom-instructions"},
	{Flag: "--deny-tool", Values: agent.Many}, {Flag: "--excluded-tools", Values: agent.Many}, {Flag: "--deny-url", Values: agent.Many},
	{Flag: "--banner"}, {Flag: "--no-color"}, {Flag: "--screen-reader"},
}

// permissions are the permissions of a lease, an argument on each line.
func permissions(r agent.Rules) ([]byte, error) {
	var b []byte
	for _, arg := range denyRules(r) {
		b = append(append(b, arg...), '\n')
	}
	return b, nil
}

// denyRules are what can be said: files that are never written, over everything
// that is allowed. Where the write roots are less than the tree, what is between
// them has no rule here, and the guard holds it. Commands are not restricted to
// paths, since the client would refuse to read a header of the system.
func denyRules(r agent.Rules) []string {
	var args []string
	if !r.Web { // the servers of its maker search; fetching is the client's own
		args = append(args, "--excluded-tools=web_search", "--deny-tool=web_search")
	}
	for _, d := range r.DenyWrite {
		for _, g := range agent.Alternatives(d) {
			at := path.Join(agent.EscapeGlob(r.Tree), g)
			args = append(args, "--deny-tool=write("+at+")", "--deny-tool=write("+path.Join(at, "**")+")")
		}
	}
	return args
}
