// Package clients is the registry: the one list of the agent clients that cordon can
// start and whose hooks it answers. Everything that has to name a client asks here.
//
// It holds no knowledge about a client, which lies in the client's own folder next to
// this one, and in package facts as far as policy needs it.
package clients

import (
	"fmt"
	"slices"

	"cordon/internal/agent"
	"cordon/internal/agent/claude"
	"cordon/internal/agent/codex"
	"cordon/internal/agent/copilot"
	"cordon/internal/agent/gemini"
	"cordon/internal/agent/opencode"
	"cordon/internal/agent/pi"
	"cordon/internal/agent/qwen"
	"cordon/internal/client"
	"cordon/internal/stream"
)

// all is in the order of package facts.
var all = []*agent.Adapter{&claude.Client, &codex.Client, &gemini.Client, &copilot.Client, &opencode.Client, &qwen.Client, &pi.Client}

// All are the clients.
func All() []*agent.Adapter { return all }

// Of is the client of a name.
func Of(name client.Name) (*agent.Adapter, error) {
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown client %q: cordon knows %v", name, Names())
}

// Names lists the clients.
func Names() []client.Name {
	names := make([]client.Name, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}

// Known reports whether a word is the name of a client.
func Known(name string) bool { return slices.Contains(Names(), client.Name(name)) }

// Dialects are those of all clients.
func Dialects() []*client.Dialect {
	list := make([]*client.Dialect, len(all))
	for i, a := range all {
		list[i] = a.Dialect
	}
	return list
}

// Stream is how the output of a client is read; nil for a client that is not known.
func Stream(name client.Name) *stream.Form {
	a, err := Of(name)
	if err != nil {
		return nil
	}
	return a.Stream
}
