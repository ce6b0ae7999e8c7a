package opencode

import (
	_ "embed"

	"cordon/internal/client"
)

// pluginText is the plugin for OpenCode, which has no hooks that run a command.
//
//go:embed plugin.js
var pluginText string

// plugin is the text of the plugin. It never fails while it is loaded, since OpenCode would go on
// without it; what is wrong then is said at the first call.
func plugin(w client.Wiring) (string, error) { return client.PluginText(w, pluginText) }
