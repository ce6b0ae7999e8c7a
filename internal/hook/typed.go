package hook

import (
	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/commands"
	"cordon/internal/guard"
)

// Typed is a call as a person describes it, with a tool's name and one text. What
// the tool does is read in the tables that the hook reads it in; a call that the
// hook would not understand is refused here too.
func Typed(name, text, cwd string) guard.Call {
	r, err := client.Described(clients.Dialects(), name, text, cwd)
	if err != nil {
		return guard.Call{Tool: name, Cwd: cwd, Findings: []commands.Finding{{Weight: commands.Deny, Reason: err.Error(), Instead: again}}}
	}
	return callOf(r)
}
