package claude

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/client"
)

// Managed is read before every other settings, and nothing overrules it.
const Managed = "/etc/claude-code/managed-settings.json"

// claude is Claude Code. onFailure, without which a hook that fails lets its call
// through, is known from 2.1.295 on.
var Client = agent.Adapter{
	Name: "claude", Dialect: &dialect, Stream: &form, Program: "claude", Package: "@anthropic-ai/claude-code",
	Oldest: agent.Version{2, 1, 295}, Tested: agent.Version{2, 1, 325},
	Preset: "@anthropic",
	Variables: []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN",
		"ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
		"CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION",
		"CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION",
	},
	Addresses: []string{
		"ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_BASE_URL",
	},
	Logins: []agent.Login{{From: ".claude/.credentials.json", At: ".credentials.json"}},
	Hidden: []string{".claude", ".claude.json", ".claude.json.backup", ".config/claude", ".local/state/claude", ".cache/claude", ".cache/claude-cli-nodejs"},
	User:   user, ProjectParts: project, ServerFiles: []string{stateFile, movedStateFile}, Fronts: fronts, ReadServers: readServers, Expand: agent.ExpandedBraces,
	Managed: []string{Managed},
	Keep:    []string{"projects/*/*.jsonl"},
	Record: &agent.Record{
		Files: []string{"projects/*/*.jsonl"},
		Quiet: []string{`{"type":"mode"`, `{"type":"permission-mode"`, `{"type":"atis-latch"`, `{"type":"last-prompt"`},
		Calls: []string{`"type":"tool_use"`},
	},
	Starts: true,
	Build:  build, Permissions: permissions, Refused: refused, Passed: passed,
	Choices: choices, Unused: unused, Adjust: adjust,
	KeyFiles: []string{ownSettings}, KeyCommands: keyCommands,
	SignIn: "start claude in a terminal and type /login, or export ANTHROPIC_API_KEY",
}

// build starts Claude in a mode in which only what the rules allow runs, and
// nothing is asked; a person before it is asked about the rest.
//
// None of the project's settings are read: managed settings would take its hooks and
// permissions from it, and it could still set variables of the client's and have it
// run programs, of which no hook hears. Its instructions, skills and agents go with
// them. A further directory, which is the same one, gives its CLAUDE.md back. Skills,
// agents and commands can bring hooks: they come back as the text that cordon makes of
// them, at the place of managed ones or in a plugin.
func build(o agent.Order) (agent.Kit, error) {
	k := agent.Kit{Env: environment(o), Stream: !o.Interactive, Argv: append([]string{o.Program}, ownArgs(o.Args)...)}
	if err := briefSubagents(&k, &o); err != nil {
		return agent.Kit{}, err
	}
	own, err := launchSettings(o)
	if err != nil {
		return agent.Kit{}, err
	}
	mode := "manual"
	if !o.Interactive {
		if o.Prompt == "" {
			return agent.Kit{}, agent.ErrNoPrompt
		}
		mode = "dontAsk"
		// Without somebody to ask it has no AskUserQuestion, which the hook answers.
		// Its input is closed, so that whatever it would ask there itself is refused.
		k.Argv = append(k.Argv, "-p", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio")
	}
	servers, err := k.AddServers(o, agent.CommonServer)
	if err != nil {
		return agent.Kit{}, err
	}
	if servers != "" {
		k.Argv = append(k.Argv, "--mcp-config", servers)
	}
	k.Argv = append(k.Argv, "--permission-mode", mode, "--strict-mcp-config", "--no-chrome")
	if o.Managed {
		text, err := own.over(o.Machine[Managed], o.Chosen)
		if err != nil {
			return agent.Kit{}, err
		}
		k.AddFile("managed-settings.json", text)
		k.Shown = []agent.Shown{{Name: "managed-settings.json", At: Managed}}
		for _, part := range parts {
			k.ShowItems(o, part, path.Join(managedParts, string(part)))
		}
	} else {
		text, err := agent.Compact(agent.Over(o.Chosen.Settings(), own))
		if err != nil {
			return agent.Kit{}, err
		}
		k.Argv = append(k.Argv, "--settings", string(text))
		addPlugin(&k, o)
	}
	k.Argv = append(k.Argv, "--setting-sources", "", "--add-dir", o.Tree)
	k.Env = append(k.Env, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1")
	if o.Briefing != "" {
		k.AddFile("briefing.md", []byte(o.Briefing))
		k.Argv = append(k.Argv, "--append-system-prompt-file", path.Join(o.Place, "briefing.md"))
	}
	if o.Again {
		k.Argv = append(k.Argv, "--continue")
	}
	if o.Prompt != "" {
		k.Argv = append(k.Argv, "--", o.Prompt)
	}
	return k, k.AddSeed(".claude.json", firstState(o))
}

// environment keeps the client's state together and its traffic to what it needs, and
// empties the variables that are the same as flags which switch hooks off.
func environment(o agent.Order) []string {
	env := []string{
		"CLAUDE_CONFIG_DIR=" + o.State,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", "CLAUDE_CODE_SIMPLE=", "CLAUDE_CODE_SAFE_MODE=",
	}
	env = append(env, helperVariables(o)...)
	if o.Root {
		env = append(env, "IS_SANDBOX=1") // it refuses to work for root otherwise
	}
	return env
}

// firstState answers what a first start asks: whether the directory is trusted,
// which the rules make harmless, and whether a key may be used that the operator has
// given. Without it the first start also wants the network.
func firstState(o agent.Order) any {
	state := map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"projects":               map[string]any{o.Tree: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	}
	if o.Key != "" {
		state["customApiKeyResponses"] = map[string]any{"approved": []string{o.Key[max(0, len(o.Key)-20):]}, "rejected": []string{}}
	}
	return state
}

// ownArgs are the operator's arguments without the tools that they allow: those
// stand in the rules, where they are read.
func ownArgs(args []string) []string {
	var list []string
	_ = agent.Walk(passed, args, func(p agent.Passed, values []string) { // it was walked without an error
		if !allowsTools(p) {
			list = append(append(list, p.Flag), values...)
		}
	})
	return list
}

func allowsTools(p agent.Passed) bool {
	return p.Flag == "--allowedTools" || p.Flag == "--allowed-tools"
}

// extraTools are the tools of MCP servers that the operator allows: by name, and
// all those of a server whose configuration stands in the arguments themselves.
func extraTools(args []string) []string {
	var list []string
	_ = agent.Walk(passed, args, func(p agent.Passed, values []string) {
		for _, v := range values {
			switch {
			case allowsTools(p):
				list = append(list, strings.FieldsFunc(v, apart)...)
			case p.Flag == "--mcp-config":
				list = append(list, serverRules(v)...)
			}
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

func apart(r rune) bool { return r == ',' || r == ' ' }

// serverRules are the rules for the servers of a configuration that is given in
// full. Those of a file have to be allowed by name.
func serverRules(config string) []string {
	var c struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal([]byte(config), &c) != nil {
		return nil
	}
	var list []string
	for name := range c.Servers {
		if !strings.ContainsFunc(name, notPlain) {
			list = append(list, "mcp__"+name)
		}
	}
	return list
}

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// briefSubagents gives the rules to sub-agents too, which do not see the instructions
// of the conversation that starts them.
func briefSubagents(k *agent.Kit, o *agent.Order) error {
	if o.Briefing == "" {
		return nil
	}
	text, err := agent.Compact(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "SubagentStart", "additionalContext": o.Briefing}})
	if err != nil {
		return err
	}
	k.AddFile("subagent.json", text)
	args := []string{path.Join(o.Place, "subagent.json")}
	o.Extra = client.Merge(o.Extra, client.Hooks{{Event: "SubagentStart", Handlers: []client.Handler{{Type: "command", Command: "/bin/cat", Args: &args}}}})
	return nil
}
