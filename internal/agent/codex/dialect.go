// Package codex is what cordon knows about the Codex CLI: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
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
