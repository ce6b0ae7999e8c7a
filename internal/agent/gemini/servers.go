package gemini

import (
	"cordon/internal/agent"
)

// serverForm is a server as Gemini has it. By "url" it would mean an older
// transport.
func serverForm(s agent.Server) map[string]any {
	if s.URL != "" {
		return agent.Filled(map[string]any{"httpUrl": s.URL}, "headers", s.Headers)
	}
	return agent.Filled(map[string]any{"command": s.Command, "args": agent.Listed(s.Args)}, "env", s.Env)
}
