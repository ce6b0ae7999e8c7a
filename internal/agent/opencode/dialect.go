// Package opencode is what cordon knows about OpenCode: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package opencode

import (
	"errors"
	"fmt"
	"net/url"
	"path"

	"cordon/internal/client"
)

// dialect is what the plugin says for OpenCode, which has no hooks that run a command.
var dialect = client.Dialect{
	Form:  "the value of OPENCODE_CONFIG_CONTENT; --plugin names the plugin",
	Name:  "opencode",
	Keys:  client.Keys{Event: "hook_event_name", Tool: "tool", Input: "args", Session: "sessionID", Call: "callID"},
	Tools: tools, MCP: mcpName, Config: pluginConfig, Check: checkPlugin, Plugin: plugin,
	Events: [][2]string{
		{"PreToolUse", "tool.execute.before"},
		{"PostToolUse", "tool.execute.after"},
		{"PermissionRequest", "permission.ask"},
		{"SessionStart", "session.start"},
	},
}

func mcpName(server, tool string) string { return server + "_" + tool }

func checkPlugin(w client.Wiring) error {
	if !path.IsAbs(w.Plugin) {
		return fmt.Errorf("%q is not an absolute path of a plugin", w.Plugin)
	}
	return nil
}

// pluginConfig is for OPENCODE_CONFIG_CONTENT. The hooks themselves are in the
// plugin, and what is wrong with them has to be said here.
func pluginConfig(w client.Wiring, _ client.Hooks) ([]byte, error) {
	if err := w.CheckGuards(); err != nil {
		return nil, err
	}
	if w.Plugin == "" {
		return nil, errors.New("it has no place for its plugin")
	}
	file := url.URL{Scheme: "file", Path: w.Plugin}
	return client.Compact(client.Object{{"plugin", []string{file.String()}}})
}
