package claude

import "cordon/internal/agent"

// ownSettings is the operator's settings file.
const ownSettings = ".claude/settings.json"

// choices are the settings of the operator's that go into every worker. Output styles are
// those that the client itself has: others are files of instructions.
var choices = []agent.Choice{
	{File: ownSettings, Key: "model", Fits: agent.ModelName},
	{File: ownSettings, Key: "effortLevel", Fits: agent.Word},
	{File: ownSettings, Key: "alwaysThinkingEnabled", Fits: agent.Switch},
	{File: ownSettings, Key: "fastMode", Fits: agent.Switch},
	{File: ownSettings, Key: "language", Fits: agent.Language},
	{File: ownSettings, Key: "outputStyle", Fits: agent.OneOf("default", "Concise", "Explanatory", "Learning", "Proactive")},
	{File: ownSettings, Key: "env.ANTHROPIC_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.ANTHROPIC_SMALL_FAST_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.ANTHROPIC_DEFAULT_OPUS_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.ANTHROPIC_DEFAULT_SONNET_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.ANTHROPIC_DEFAULT_HAIKU_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.CLAUDE_CODE_SUBAGENT_MODEL", Fits: agent.ModelName},
	{File: ownSettings, Key: "env.CLAUDE_CODE_EFFORT_LEVEL", Fits: agent.Word},
	{File: ownSettings, Key: "env.MAX_THINKING_TOKENS", Fits: agent.Digits},
	{File: ownSettings, Key: "env.CLAUDE_CODE_MAX_OUTPUT_TOKENS", Fits: agent.Digits},
}

// unused are named at the start of a run: they run programs or decide what is allowed.
var unused = []agent.Unused{
	{File: ownSettings, Key: "hooks", Noun: "hooks"},
	{File: ownSettings, Key: "permissions", Noun: "permission rules"},
	{File: ownSettings, Key: "statusLine", Noun: "status line"},
	{File: ownSettings, Key: "enabledPlugins", Noun: "plugins"},
}

// adjust names the variables that stay with the operator.
func adjust(chosen agent.Chosen, settings map[string]any) (left []string) {
	env, _ := settings["env"].(map[string]any)
	for name := range env {
		if _, ok := chosen["env."+name]; !ok && name != helperTTL {
			return []string{"variables of settings.json"}
		}
	}
	return nil
}
