package qwen

import (
	"path"
	"strings"

	"cordon/internal/agent"
)

const (
	// managed is read with the highest rank.
	managed     = "/etc/qwen-code/settings.json"
	ownSettings = ".qwen/settings.json"
	// chats are its conversations, below its state.
	chats = "projects/*/chats/*.jsonl"
	// settingsVersion is the form of its settings. It would write into a file of another one.
	settingsVersion = 4
)

// Client is Qwen Code.
var Client = agent.Adapter{
	Name: "qwen", Dialect: &dialect, Stream: &form, Program: "qwen", Package: "@qwen-code/qwen-code",
	Oldest: agent.Version{0, 24, 4}, Tested: agent.Version{0, 24, 4},
	Preset:        "@qwen",
	SignIn:        "start qwen in a terminal and type /auth, or export DASHSCOPE_API_KEY",
	LoginSettings: []agent.Setting{{File: ownSettings, Key: "env"}, {File: ownSettings, Key: "modelProviders"}},
	Variables: []string{
		"DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "QWEN_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL",
		"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY",
	},
	Addresses: []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"},
	Logins:    []agent.Login{{From: ".qwen/oauth_creds.json", At: "oauth_creds.json"}},
	Config:    []string{ownSettings},
	Hidden:    []string{".qwen"},
	Managed:   []string{managed},
	User:      user, ProjectParts: project, Fronts: fronts,
	Keep: []string{chats},
	// It writes nothing down before the first prompt.
	Record: &agent.Record{Files: []string{chats}, Calls: []string{`"functionCall":{`, `"event.name":"qwen-code.tool_call"`}},
	Starts: true,
	Choices: []agent.Choice{
		{File: ownSettings, Key: "model.name", Fits: agent.ModelName}, {File: ownSettings, Key: "model.reasoningEffort", Fits: agent.Word},
		{File: ownSettings, Key: "general.outputLanguage", Fits: agent.Language}, {File: ownSettings, Key: "ui.theme", Fits: agent.Language},
	},
	Unused: []agent.Unused{{File: ownSettings, Key: "hooks", Noun: "hooks"}, {File: ownSettings, Key: "permissions", Noun: "permission rules"}},
	// One that is trusted brings its own servers, hooks and variables.
	NoServers: "starts no MCP servers in a directory that is not trusted, and cordon trusts none",
	Build:     build, Permissions: permissions, Refused: refused, Passed: passed,
}

// build starts Qwen Code in a directory that is not trusted: it reads no settings, hooks, variables and
// extensions of the repository there, and starts no other agent for a sub-agent. In such a directory it
// has no mode that allows everything, so that the rules allow each tool.
func build(o agent.Order) (agent.Kit, error) {
	k := agent.Kit{Stream: !o.Interactive, Env: environment(o)}
	if err := addSettings(&k, o); err != nil {
		return agent.Kit{}, err
	}
	trust, err := agent.Compact(map[string]any{o.Tree: "DO_NOT_TRUST"}) // in a terminal it would ask
	if err != nil {
		return agent.Kit{}, err
	}
	k.AddFile("trusted.json", append(trust, '\n'))
	k.AddBriefing(o, "QWEN.md")
	k.LinkFolder(o, agent.Skills, "skills")
	k.LinkFolder(o, agent.Agents, "agents")
	k.Argv = append([]string{o.Program}, o.Args...)
	k.Argv = append(k.Argv, "--approval-mode=default", "--extensions=none")
	if o.Again {
		k.Argv = append(k.Argv, "--continue")
	}
	return k, k.AddPrompt(o, promptFlags)
}

var promptFlags = agent.PromptFlags{Headless: []string{"--output-format=stream-json"}, Prompt: "--prompt", Interactive: "--prompt-interactive"}

// addSettings adds the system settings, which hold the hooks and the rules.
func addSettings(k *agent.Kit, o agent.Order) error {
	hooks, err := agent.HookSettings(o.Wiring())
	if err != nil {
		return err
	}
	own, err := o.Kept(ownSettings, "security", "model", "modelProviders", "providerProtocol", "ui", "env")
	if err != nil {
		return err
	}
	lower, err := o.MachineSettings(managed)
	if err != nil {
		return err
	}
	pinned := pinnedSettings(o.Rules)
	keepDenials(pinned, lower)
	settings := agent.Over(agent.Over(agent.Over(agent.Over(lower, chosenSettings(own)), o.Chosen.Settings()), pinned), hooks)
	text, err := agent.Compact(settings)
	if err != nil {
		return err
	}
	const name, none = "qwen.json", "none.json"
	k.AddFile(name, append(text, '\n'))
	// Its own settings stay empty: an agent that writes them would be obeyed as its user.
	k.AddFile(none, []byte(`{"$version":4}`+"\n"))
	if err := k.AddSeed("settings.json", map[string]any{"$version": settingsVersion}); err != nil {
		return err
	}
	if o.Managed {
		k.Shown = []agent.Shown{{Name: name, At: managed}, {Name: none, At: path.Join(o.State, "settings.json")}}
	}
	return nil
}

// keepDenials adds what the machine denies to the rules.
func keepDenials(pinned, machine map[string]any) {
	rules, _ := pinned["permissions"].(map[string]any)
	theirs, _ := agent.Inside(machine, "permissions", "deny").([]any)
	deny, _ := rules["deny"].([]string)
	for _, t := range theirs {
		if rule, ok := t.(string); ok {
			deny = append(deny, rule)
		}
	}
	rules["deny"] = deny
}

// chosenSettings is how the operator signs in, with which model and in which colours.
func chosenSettings(own map[string]any) map[string]any {
	chosen := map[string]any{}
	for _, names := range [][]string{{"security", "auth", "selectedType"}, {"model", "name"}, {"ui", "theme"}} {
		if v, ok := agent.Inside(own, names...).(string); ok {
			chosen = agent.Over(chosen, agent.Nested(v, names...))
		}
	}
	for _, name := range []string{"modelProviders", "providerProtocol"} {
		if v, ok := own[name]; ok {
			chosen[name] = v
		}
	}
	if keys := ownKeys(own["env"]); len(keys) > 0 {
		chosen["env"] = keys
	}
	return chosen
}

// ownKeys are the variables of the operator's settings that sign in: the client keeps keys there.
func ownKeys(env any) map[string]any {
	keys := map[string]any{}
	all, _ := env.(map[string]any)
	for name, v := range all {
		if text, ok := v.(string); ok && strings.HasSuffix(name, "_API_KEY") {
			keys[name] = text
		}
	}
	return keys
}

// pinnedSettings is what no layer below says otherwise.
func pinnedSettings(r agent.Rules) map[string]any {
	off := map[string]any{"enabled": false}
	tools := map[string]any{"sandbox": false} // it cannot be made in a cell
	if !r.Web {
		tools["webSearch"] = off
	}
	return map[string]any{
		"$version":    settingsVersion,
		"general":     map[string]any{"enableAutoUpdate": false},
		"privacy":     map[string]any{"usageStatisticsEnabled": false},
		"telemetry":   off,
		"memory":      map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		"ide":         off,
		"tools":       tools,
		"security":    map[string]any{"folderTrust": map[string]any{"enabled": true}},
		"permissions": permissionRules(r),
		"skills":      map[string]any{"disabledLevels": []string{"project"}}, // the kit has their text
	}
}

// environment keeps the client's state together, and empties the variables that leave hooks out, trust
// the directory, read settings from elsewhere or put another prompt in the place of the client's. A
// variable that is there is not read from a file of variables.
func environment(o agent.Order) []string {
	settings := path.Join(o.Place, "qwen.json")
	if o.Managed {
		settings = managed
	}
	env := []string{
		"QWEN_HOME=" + o.State, "QWEN_RUNTIME_DIR=" + o.State,
		"QWEN_CODE_SYSTEM_SETTINGS_PATH=" + settings,
		"QWEN_CODE_SYSTEM_DEFAULTS_PATH=" + path.Join(o.Place, "none.json"),
		"QWEN_CODE_TRUSTED_FOLDERS_PATH=" + path.Join(o.Place, "trusted.json"),
		"QWEN_CODE_SIMPLE=", "QWEN_CODE_SAFE_MODE=", "QWEN_SYSTEM_MD=", "QWEN_WRITE_SYSTEM_MD=", "QWEN_SANDBOX=", "SANDBOX=", "QWEN_TLS_INSECURE=",
		"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
	}
	if !o.Rules.Web {
		env = append(env, "ENABLE_WEB_SEARCH=false")
	}
	return env
}

const (
	byCordon = "is set by cordon"
	byLease  = "would override the rules of the lease"
)

var refused = [][2]string{
	{"--bare", "leaves out the guard"}, {"--safe-mode", "leaves out the guard"},
	{"--worktree", "would work in a tree other than the leased one"},
	{"--allowed-tools", byLease}, {"--core-tools", byLease}, {"--approval-mode", byCordon}, {"--yolo", byCordon}, {"-y", byCordon},
	{"--extensions", "could add hooks that change allowed calls"}, {"-e", "could add hooks that change allowed calls"},
	{"--include-directories", "is decided by the lease: the policy says what the agent may read and write"},
	{"--add-dir", "is decided by the lease: the policy says what the agent may read and write"},
	{"--mcp-config", "is not possible: the client starts no MCP servers in a directory that is not trusted"},
	{"--sandbox", "cannot work in a cell, which is the sandbox"}, {"-s", "cannot work in a cell, which is the sandbox"},
	{"--output-format", byCordon}, {"-o", byCordon}, {"--input-format", byCordon}, {"--json-file", byCordon}, {"--json-fd", byCordon},
	{"--prompt", "goes behind --"}, {"-p", "goes behind --"}, {"--prompt-interactive", "goes behind --"}, {"-i", "goes behind --"},
	{"--resume", byCordon}, {"-r", byCordon}, {"--continue", byCordon}, {"-c", byCordon}, {"--session-id", byCordon},
	{"--insecure", "would not check who answers for the model"},
	{"--acp", "starts a server, not an agent"},
}

var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "-m", Values: 1}, {Flag: "--fallback-model", Values: 1}, {Flag: "--auth-type", Values: 1, Own: true},
	{Flag: "--output-style", Values: 1}, {Flag: "--max-session-turns", Values: 1}, {Flag: "--max-wall-time", Values: 1},
	{Flag: "--max-tool-calls", Values: 1}, {Flag: "--max-subagent-depth", Values: 1}, {Flag: "--exclude-tools", Values: agent.Many},
	{Flag: "--debug"}, {Flag: "-d"}, {Flag: "--screen-reader"},
}
