package pi

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/agent"
)

const (
	ownSettings = ".pi/agent/settings.json"
	ownModels   = ".pi/agent/models.json"
	// dir is where its settings and logins lie, below its state.
	dir = "agent"
)

// Client is pi, the coding agent.
var Client = agent.Adapter{
	Name: "pi", Dialect: &dialect, Stream: &form, Program: "pi", Package: "@mariozechner/pi-coding-agent",
	Oldest: agent.Version{0, 73, 1}, Tested: agent.Version{0, 73, 1},
	Preset: "@openrouter",
	Variables: []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
		"XAI_API_KEY", "DEEPSEEK_API_KEY", "CEREBRAS_API_KEY", "ZAI_API_KEY", "MOONSHOT_API_KEY", "KIMI_API_KEY", "FIREWORKS_API_KEY",
		"AI_GATEWAY_API_KEY", "OPENCODE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME",
		"AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
	},
	Addresses: []string{"AZURE_OPENAI_BASE_URL"},
	Logins:    []agent.Login{{From: ownLogins, At: dir + "/auth.json"}},
	Config:    []string{ownSettings, ownModels},
	KeyFiles:  []string{ownSettings, ownLogins, ownModels}, KeyCommands: keyCommands, LoginText: loginText,
	SignIn:        "start pi in a terminal and type /login, or export the key of its provider (OPENROUTER_API_KEY, ANTHROPIC_API_KEY and so on)",
	LoginSettings: []agent.Setting{{File: ownModels, Key: "providers"}},
	Hidden:        []string{".pi"},
	Project:       []string{".pi/settings.json"},
	User:          user, ProjectParts: project, Fronts: fronts,
	Keep: []string{"sessions/*.jsonl"},
	Record: &agent.Record{ // which it begins with the first answer, all in one
		Files: []string{"sessions/*.jsonl"},
		Quiet: []string{`{"type":"session",`, `{"type":"model_change",`, `{"type":"thinking_level_change",`, `{"type":"session_info",`},
		Calls: []string{`{"type":"toolCall",`, `"role":"toolResult"`},
	},
	Starts: true,
	Choices: []agent.Choice{
		{File: ownSettings, Key: "defaultProvider", Fits: agent.Word}, {File: ownSettings, Key: "defaultModel", Fits: agent.ModelName},
		{File: ownSettings, Key: "defaultThinkingLevel", Fits: agent.Word}, {File: ownSettings, Key: "hideThinkingBlock", Fits: agent.Switch},
		{File: ownSettings, Key: "theme", Fits: agent.Word},
	},
	Unused: []agent.Unused{
		{File: ownSettings, Key: "packages", Noun: "packages"}, {File: ownSettings, Key: "extensions", Noun: "extensions"},
		{File: ownSettings, Key: "shellCommandPrefix", Noun: "shell prefix"},
	},
	NoServers: "has no MCP servers",
	Build:     build, Objects: objections, Refused: refused, Passed: passed,
}

// harmless are the settings of a project that change no call and start nothing. With the flags and the
// variables of a launch, packages and extensions are neither installed nor loaded.
var harmless = []string{
	"defaultProvider", "defaultModel", "defaultThinkingLevel", "hideThinkingBlock", "thinkingBudgets", "theme", "quietStartup", "collapseChangelog",
	"enableInstallTelemetry", "doubleEscapeAction", "treeFilterMode", "editorPaddingX", "autocompleteMaxVisible", "showHardwareCursor", "warnings",
	"compaction", "branchSummary", "retry", "steeringMode", "followUpMode", "transport", "terminal", "images", "enabledModels", "markdown",
	"packages", "extensions", "skills", "prompts", "themes", "enableSkillCommands", "sessionDir", "lastChangelogVersion",
}

// objections: the client obeys the settings of a project whatever it is told, over those of its user.
func objections(_ bool, settings map[string]any) string {
	var names []string
	for name := range settings {
		if !slices.Contains(harmless, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return "it sets " + strings.Join(names, ", ") + ", and the client would run other commands than the guard allowed"
}

// build starts pi with the extension that asks the guard, from a place that the client cannot write, and
// with no other extension. It asks nobody, because the cell holds.
func build(o agent.Order) (agent.Kit, error) {
	if !o.Interactive && o.Prompt == "" {
		return agent.Kit{}, agent.ErrNoPrompt
	}
	k := agent.Kit{Stream: !o.Interactive, Env: environment(o)}
	wires := o.Wiring()
	wires.Plugin = path.Join(o.Place, "cordon.mjs")
	text, err := extension(wires)
	if err != nil {
		return agent.Kit{}, err
	}
	k.AddFile("cordon.mjs", []byte(text))
	if err := addSettings(&k, o); err != nil {
		return agent.Kit{}, err
	}
	// The first word would be a command of its own, were it none of these.
	k.Argv = []string{o.Program, "--no-extensions", "--extension", wires.Plugin, "--no-themes",
		"--session-dir", path.Join(o.State, "sessions")}
	addItems(&k, o)
	if o.Briefing != "" {
		k.AddFile("briefing.md", []byte(o.Briefing))
		k.Argv = append(k.Argv, "--append-system-prompt", path.Join(o.Place, "briefing.md"))
	}
	k.Argv = append(k.Argv, o.Args...)
	if o.Again {
		k.Argv = append(k.Argv, "--continue")
	}
	if !o.Interactive {
		k.Argv = append(k.Argv, "--mode", "json")
	}
	if o.Prompt != "" {
		k.Argv = append(k.Argv, message(o.Prompt))
	}
	return k, nil
}

// message is a prompt that is taken for one, and not for a flag or a file.
func message(prompt string) string {
	if strings.HasPrefix(prompt, "-") || strings.HasPrefix(prompt, "@") {
		return " " + prompt
	}
	return prompt
}

// addSettings adds the settings and the models that the operator has set up.
func addSettings(k *agent.Kit, o agent.Order) error {
	own, err := o.Kept(ownSettings, "defaultProvider", "defaultModel", "defaultThinkingLevel", "thinkingBudgets", "hideThinkingBlock", "enabledModels",
		"theme", "transport", "retry", "compaction")
	if err != nil {
		return err
	}
	settings, err := agent.Compact(agent.Over(agent.Over(own, o.Chosen.Settings()), map[string]any{
		"packages": []string{}, "extensions": []string{}, "enableInstallTelemetry": false, "quietStartup": true, "lastChangelogVersion": o.Version.String(),
	}))
	if err != nil {
		return err
	}
	models, err := o.Kept(ownModels, "providers")
	if err != nil {
		return err
	}
	if err := k.AddSeed(dir+"/models.json", withKeys(models, o.Keys)); err != nil {
		return err
	}
	const name = "pi.json"
	k.AddFile(name, append(settings, '\n'))
	k.Seeds = append(k.Seeds, agent.File{Name: dir + "/settings.json", Text: append(settings, '\n')})
	if o.Managed { // the agent cannot write what a later conversation of the same client reads
		k.Shown = []agent.Shown{{Name: name, At: path.Join(o.State, dir, "settings.json")}}
	}
	return nil
}

// environment keeps the client's state together. Offline, it installs nothing and asks for no new version; its
// models are reached all the same. Node reads the extension itself. If it cannot, pi compiles it anew at each start,
// because an agent could write where it keeps what it compiled.
func environment(o agent.Order) []string {
	return []string{
		"PI_CODING_AGENT_DIR=" + path.Join(o.State, dir), "PI_CODING_AGENT_SESSION_DIR=" + path.Join(o.State, "sessions"),
		"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0", "PI_PACKAGE_DIR=",
		"JITI_TRY_NATIVE=true", "JITI_FS_CACHE=false", "JITI_CACHE=false", "JITI_ALIAS=", "JITI_NATIVE_MODULES=", "JITI_TRANSFORM_MODULES=",
	}
}

var refused = [][2]string{
	{"--extension", "could change allowed calls"}, {"-e", "could change allowed calls"},
	{"--no-extensions", "is set by cordon"}, {"-ne", "is set by cordon"},
	{"--mode", "is set by cordon"}, {"--print", "goes behind --"}, {"-p", "goes behind --"},
	{"--continue", "is set by cordon"}, {"-c", "is set by cordon"}, {"--resume", "is set by cordon"}, {"-r", "is set by cordon"},
	{"--session", "is set by cordon"}, {"--session-dir", "is set by cordon"}, {"--fork", "is set by cordon"}, {"--no-session", "is set by cordon"},
	{"--export", "starts no agent"}, {"--list-models", "starts no agent"},
	{"--api-key", "would show a key on the command line: export its variable"},
	{"--system-prompt", "would take the place of the client's own rules"},
}

var passed = []agent.Passed{
	{Flag: "--provider", Values: 1, Own: true}, {Flag: "--model", Values: 1}, {Flag: "--models", Values: 1}, {Flag: "--thinking", Values: 1},
	{Flag: "--tools", Values: 1}, {Flag: "-t", Values: 1}, {Flag: "--no-skills"}, {Flag: "-ns"}, {Flag: "--no-context-files"}, {Flag: "-nc"},
	{Flag: "--verbose"},
}
