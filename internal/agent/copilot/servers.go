package copilot

import (
	"cordon/internal/agent"
)

// serverForm is a server as Copilot has it, with all of its tools.
func serverForm(s agent.Server) map[string]any {
	v := agent.CommonServer(s)
	v["tools"] = []string{"*"}
	if s.URL == "" {
		v["type"] = "local"
	}
	return v
}
