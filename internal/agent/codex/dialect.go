package codex

import (
	"cordon/internal/client"
)

// dialect is the hook protocol of the Codex CLI.
var dialect = client.Dialect{
	Form: "values for -c, one on each line",
	Name: "codex", Keys: client.UsualKeys, Tools: tools, Config: flags,
	Events: [][2]string{
		{"PreToolUse", "PreToolUse"},
		{"PostToolUse", "PostToolUse"},
		{"PermissionRequest", "PermissionRequest"},
		{"SessionStart", "SessionStart"},
		{"SessionEnd", "SessionEnd"},
		{"UserPromptSubmit", "UserPromptSubmit"},
		{"Stop", "Stop"},
		{"PreCompact", "PreCompact"},
		{"PostCompact", "PostCompact"},
		{"SubagentStart", "SubagentStart"},
		{"SubagentStop", "SubagentStop"},
		{"", "Interrupt"},
	},
}
