// Package qwen is what cordon knows about Qwen Code: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package qwen

import (
	"cordon/internal/client"
)

// dialect is the hook protocol of Qwen Code. It obeys the exit code 2 with a text on stderr;
// without a text, and for every other failure, the call runs.
var dialect = client.Dialect{
	Form: "system settings",
	Name: "qwen", Tools: tools, Config: hookSettings,
	Keys: client.Keys{Event: "hook_event_name", Tool: "tool_name", Input: "tool_input", Session: "session_id", Call: "tool_call_id"},
	Events: [][2]string{
		{"PreToolUse", "PreToolUse"},
		{"PostToolUse", "PostToolUse"},
		{"PermissionRequest", "PermissionRequest"},
		{"SessionStart", "SessionStart"},
		{"SessionEnd", "SessionEnd"},
		{"UserPromptSubmit", "UserPromptSubmit"},
		{"Stop", "Stop"},
		{"SubagentStart", "SubagentStart"},
		{"SubagentStop", "SubagentStop"},
		{"PreCompact", "PreCompact"},
		{"Notification", "Notification"},
	},
}

// hookSettings is for the system settings, which no other layer overrules. Hooks have names, because
// the client takes two with the same command for one.
func hookSettings(w client.Wiring, hooks client.Hooks) ([]byte, error) {
	rendered, err := client.NamedHooks(w, hooks, 1, nil)
	if err != nil {
		return nil, err
	}
	return client.Compact(client.Object{{"disableAllHooks", false}, {"hooks", rendered}})
}
