// Package pi is what cordon knows about pi: how its extension speaks to the guard, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package pi

import (
	_ "embed"
	"errors"
	"fmt"
	"path"

	"cordon/internal/client"
)

// dialect is what the extension says for pi, which has no hooks that run a command.
var dialect = client.Dialect{
	Form:  "settings that name the extension; --plugin says where it lies",
	Name:  "pi",
	Keys:  client.Keys{Event: "hook_event_name", Tool: "tool", Input: "args", Session: "sessionID", Call: "callID"},
	Tools: tools, Config: extensionSettings, Check: checkExtension, Plugin: extension,
	Events: [][2]string{
		{"PreToolUse", "tool_call"},
		{"PostToolUse", "tool_result"},
		{"SessionStart", "session_start"},
	},
}

// extensionText asks the guard. An extension that cannot be loaded ends pi, and a handler that fails refuses the
// call.
//
//go:embed extension.js
var extensionText string

// extension is the text of the extension.
func extension(w client.Wiring) (string, error) { return client.PluginText(w, extensionText) }

func checkExtension(w client.Wiring) error {
	if !path.IsAbs(w.Plugin) {
		return fmt.Errorf("%q is not an absolute path of an extension", w.Plugin)
	}
	return nil
}

// extensionSettings are settings that load the extension. The hooks themselves are in it, and what is wrong with
// them has to be said here.
func extensionSettings(w client.Wiring, _ client.Hooks) ([]byte, error) {
	if err := w.CheckGuards(); err != nil {
		return nil, err
	}
	if w.Plugin == "" {
		return nil, errors.New("it has no place for its extension")
	}
	return client.Compact(client.Object{{"extensions", []string{w.Plugin}}})
}
