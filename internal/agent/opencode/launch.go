package opencode

import (
	"path"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/client"
)

const (
	// managed is read after every other configuration.
	managed    = "/etc/opencode/opencode.json"
	ownConfig  = ".config/opencode/opencode.json"
	ownConfigC = ".config/opencode/opencode.jsonc"
)

// Client is OpenCode.
var Client = agent.Adapter{
	Name: "opencode", Dialect: &dialect, Stream: &form, Program: "opencode", Package: "opencode-ai",
	Oldest: agent.Version{1, 18, 33}, Tested: agent.Version{1, 18, 33},
	Preset:        "@opencode",
	SignIn:        "type opencode auth login, or export the key of its provider (OPENCODE_API_KEY, ANTHROPIC_API_KEY and so on)",
	LoginSettings: []agent.Setting{{File: ownConfig, Key: "provider"}, {File: ownConfigC, Key: "provider"}},
	Variables: []string{
		"OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
	},
	Logins: []agent.Login{{From: ".local/share/opencode/auth.json", At: "data/opencode/auth.json"}},
	Config: []string{ownConfig, ownConfigC},
	Hidden: []string{".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"},
	User:   user, ProjectParts: project, ServerFiles: []string{ownConfig, ownConfigC}, Fronts: fronts, ReadServers: readServers, Expand: expandBraces,
	Managed: []string{managed},
	Project: []string{"opencode.json", "opencode.jsonc"},
	Keep:    []string{database, database + "-wal", database + "-shm"},
	Record:  &agent.Record{Files: []string{database + "-wal"}, Prompts: []string{`"role":"user"`}, Calls: []string{`"type":"tool"`}},
	Starts:  true,
	Helpers: []agent.Helper{{
		Program: "rg", Below: []string{".cache/opencode/bin", ".local/share/opencode/bin"},
		Without: "the tools glob and grep of OpenCode fail", Package: "ripgrep",
	}},
	Choices: []agent.Choice{
		{File: ownConfig, Key: "model", Fits: agent.ModelName}, {File: ownConfig, Key: "small_model", Fits: agent.ModelName},
		{File: ownConfigC, Key: "model", Fits: agent.ModelName}, {File: ownConfigC, Key: "small_model", Fits: agent.ModelName},
	},
	Unused: []agent.Unused{
		{File: ownConfig, Key: "plugin", Noun: "plugins"}, {File: ownConfigC, Key: "plugin", Noun: "plugins"},
		{File: ownConfig, Key: "permission", Noun: "permission rules"}, {File: ownConfigC, Key: "permission", Noun: "permission rules"},
		{File: ownConfig, Key: "formatter", Noun: "formatters"}, {File: ownConfigC, Key: "formatter", Noun: "formatters"},
	},
	Build: build, Permissions: permissions, Objects: objections, Refused: refused, Passed: passed,
}

// objections: code that a project's configuration names as a plugin is run in
// the client even if that configuration is switched off. Its hooks are not, and it
// could still take the guard's away.
func objections(_ bool, settings map[string]any) string {
	for _, name := range []string{"plugin", "plugins"} {
		if list, ok := settings[name].([]any); ok && len(list) == 0 || settings[name] == nil {
			continue
		}
		return "it has plugins, which the client runs alongside the guard"
	}
	return ""
}

// build starts OpenCode with the plugin that asks the guard, from a place that
// the client cannot write. Its directory of settings is there too: whatever lies in
// one is loaded as a plugin at the next start. Without the project's configuration
// it reads no AGENTS.md either, which is named instead.
func build(o agent.Order) (agent.Kit, error) {
	k := agent.Kit{Stream: !o.Interactive}
	wires := o.Wiring()
	wires.Plugin = path.Join(o.Place, "cordon.js")
	wires.Shell = shellVariables(o.Home)
	plugin, err := plugin(wires)
	if err != nil {
		return agent.Kit{}, err
	}
	k.AddFile("cordon.js", []byte(plugin))
	config, err := configuration(o, wires)
	if err != nil {
		return agent.Kit{}, err
	}
	if err := addPlaces(&k, o, config); err != nil {
		return agent.Kit{}, err
	}
	text, err := agent.Compact(config)
	if err != nil {
		return agent.Kit{}, err
	}
	k.Env = environment(o, string(text))
	k.Argv = arguments(o)
	if o.Again {
		k.Argv = tidied(&k, o, k.Argv)
	}
	if !o.Interactive && o.Prompt == "" {
		return agent.Kit{}, agent.ErrNoPrompt
	}
	return k, nil
}

// addPlaces adds the files of the kit, and what of them is shown elsewhere.
func addPlaces(k *agent.Kit, o agent.Order, config map[string]any) error {
	// It installs a package there that these make it believe to have, and ignores it.
	k.AddFile("config/opencode/.gitignore", []byte("*\n"))
	k.AddFile("config/opencode/node_modules/none", nil)
	k.AddFile("config/opencode/package-lock.json", []byte(`{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"`+o.Version.String()+`"}}}}`+"\n"))
	for _, part := range []agent.Part{agent.Skills, agent.Agents, agent.Commands} {
		k.AddItems(o, part, path.Join("config/opencode", string(part)))
	}
	if o.Briefing != "" {
		k.AddFile("briefing.md", []byte(o.Briefing))
	}
	if !o.Managed {
		return nil
	}
	lower, err := o.MachineSettings(managed)
	if err != nil {
		return err
	}
	text, err := agent.Compact(o.WithServers(agent.Over(lower, config), "mcp", serverForm(o.Home)))
	if err != nil {
		return err
	}
	k.AddFile("opencode.json", append(text, '\n'))
	k.Shown = []agent.Shown{{Name: "opencode.json", At: managed}}
	return nil
}

// configuration is what the client is told: the plugin, the rules, and the models
// that the operator has set up.
func configuration(o agent.Order, wires client.Wiring) (map[string]any, error) {
	config, err := agent.HookSettings(wires)
	if err != nil {
		return nil, err
	}
	config["autoupdate"], config["share"] = false, "disabled"
	config["permission"] = permissionRows(o.Rules)
	config["instructions"] = []string{path.Join(o.Tree, "AGENTS.md"), path.Join(o.Tree, "CLAUDE.md")}
	if o.Briefing != "" {
		config["instructions"] = append([]string{path.Join(o.Place, "briefing.md")}, config["instructions"].([]string)...)
	}
	for _, file := range []string{ownConfig, ownConfigC} {
		own, err := o.Kept(file, "provider", "disabled_providers", "enabled_providers")
		if err != nil {
			return nil, err
		}
		config = agent.Over(own, config)
	}
	config = agent.Over(o.Chosen.Settings(), config)
	return o.WithServers(config, "mcp", serverForm(o.Home)), nil
}

// environment keeps the client's state together, and pins the variables that leave
// the plugin out, read another configuration or rules, or another home.
func environment(o agent.Order, config string) []string {
	return []string{
		"OPENCODE_CONFIG_CONTENT=" + config,
		"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_EXTERNAL_SKILLS=1",
		"OPENCODE_PURE=0", "OPENCODE_CONFIG=", "OPENCODE_CONFIG_DIR=", "OPENCODE_PERMISSION=",
		"OPENCODE_TEST_HOME=" + path.Join(o.Place, "home"), "OPENCODE_TEST_MANAGED_CONFIG_DIR=", "OPENCODE_DB=",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_AUTO_SHARE=0",
		"XDG_CONFIG_HOME=" + path.Join(o.Place, "config"),
		"XDG_DATA_HOME=" + path.Join(o.State, "data"),
		"XDG_STATE_HOME=" + path.Join(o.State, "state"),
		"XDG_CACHE_HOME=" + path.Join(o.State, "cache"),
	}
}

// shellVariables gives the programs that the agent runs their own directories back:
// a compiler's cache is not the client's.
func shellVariables(home string) []string {
	return []string{
		"XDG_CONFIG_HOME=" + path.Join(home, ".config"), "XDG_DATA_HOME=" + path.Join(home, ".local/share"),
		"XDG_STATE_HOME=" + path.Join(home, ".local/state"), "XDG_CACHE_HOME=" + path.Join(home, ".cache"),
	}
}

func arguments(o agent.Order) []string {
	argv := []string{o.Program}
	if !o.Interactive {
		argv = append(argv, "run", "--format=json")
	}
	argv = append(append(argv, o.Args...), "--auto")
	if o.Again {
		argv = append(argv, "--continue")
	}
	switch {
	case !o.Interactive:
		argv = append(argv, "--", o.Prompt)
	case o.Prompt != "":
		argv = append(argv, "--prompt="+o.Prompt)
	}
	return argv
}

var refused = [][2]string{
	{"--pure", "leaves out the guard"},
	{"--attach", "would work with a server outside the cell"}, {"--dir", "would work in a tree other than the leased one"},
	{"--share", "would publish the session"},
	{"--port", "would open a server"}, {"--hostname", "would open a server"}, {"--mdns", "would open a server"}, {"--cors", "would open a server"},
	{"--auto", "is set by cordon"}, {"--format", "is set by cordon"}, {"--prompt", "goes behind --"},
	{"--continue", "is set by cordon"}, {"-c", "is set by cordon"}, {"--session", "is set by cordon"}, {"-s", "is set by cordon"},
	{"--interactive", "is set by cordon"}, {"-i", "is set by cordon"},
}

var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "-m", Values: 1}, {Flag: "--agent", Values: 1}, {Flag: "--variant", Values: 1},
	{Flag: "--thinking"}, {Flag: "--title", Values: 1}, {Flag: "--log-level", Values: 1},
}

// permissions are the permissions of a lease.
func permissions(r agent.Rules) ([]byte, error) {
	return agent.Compact(map[string]any{"permission": permissionRows(r)})
}

// permissionRows has a row for each tool, and none for all of them: a
// configuration that names a tool before such a row comes after it. Of what matches,
// the last one holds. Files are compared by their path from the worktree, and what
// is outside of it also by its directory.
func permissionRows(r agent.Rules) any {
	edit, outside := client.Object{}, client.Object{{"*", "allow"}}
	edit.Set("*", "deny")
	for _, w := range r.Write {
		addAll(&edit, w, "allow")
	}
	edit.Set("../*", "deny")
	for _, d := range r.DenyWrite {
		addAll(&edit, d, "deny")
	}
	for _, d := range r.DenyRead {
		addAll(&outside, d, "deny")
	}
	return client.Object{{"bash", "allow"}, {"read", "allow"}, {"edit", edit}, {"external_directory", outside}, {"webfetch", "allow"},
		{"task", "allow"}, {"skill", "allow"}}
}

// literal takes the backslashes from a glob, which the client does not know.
var literal = strings.NewReplacer(`\\`, `\`, `\*`, "?", `\?`, "?", `\`, "")

// addAll adds a glob and what is below it. The client's own stars match every
// character.
func addAll(o *client.Object, glob, action string) {
	if glob == "." {
		o.Set("*", action)
		return
	}
	for _, g := range agent.Alternatives(strings.TrimPrefix(glob, "./")) {
		g = literal.Replace(strings.ReplaceAll(strings.TrimSuffix(g, "/**"), "**", "*"))
		if rest, ok := strings.CutPrefix(g, "*/"); ok {
			o.Set(rest, action)
			o.Set(rest+"/*", action)
		}
		o.Set(g, action)
		o.Set(g+"/*", action)
	}
}
