// Package clients is the registry: the one list of the agent clients that cordon can
// start and whose hooks it answers. Everything that has to name a client asks here.
//
// It holds no knowledge about a client, which lies in the client's own folder next to
// this one, and in package facts as far as policy needs it.
package clients

import (
	"fmt"
	"slices"
	"strings"

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
	"cordon/internal/strictyaml"
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
	return nil, fmt.Errorf("unknown client %q: cordon starts %s", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(Names()), " ", ", "), "[]"))
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

// Unknown says what to type in the place of a word that names no client.
func Unknown(args []string) string {
	if strings.Contains(args[0], " ") {
		return fmt.Sprintf("no client is named: cordon run claude -- %q (client in your configuration names the one for prompts alone)", args[0])
	}
	names, hint := strings.Fields(strings.Trim(fmt.Sprint(Names()), "[]")), ""
	if near := strictyaml.Nearest(args[0], names); near != "" {
		hint = "did you mean " + near + "? "
	}
	return fmt.Sprintf("unknown client %q: %scordon starts %s; any other command goes after --: cordon run -- %s",
		args[0], hint, strings.Join(names, ", "), strings.Join(args, " "))
}
