package opencode

import (
	"maps"
	"strings"

	"cordon/internal/agent"
)

// serverForm is a server as OpenCode has it. A program gets the directories back
// that are the client's own; see shellVariables.
func serverForm(home string) func(agent.Server) map[string]any {
	return func(s agent.Server) map[string]any {
		if s.URL != "" {
			return agent.Filled(map[string]any{"type": "remote", "url": s.URL, "enabled": true}, "headers", s.Headers)
		}
		env := map[string]string{}
		for _, v := range shellVariables(home) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		maps.Copy(env, s.Env)
		return map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "environment": env, "enabled": true}
	}
}
