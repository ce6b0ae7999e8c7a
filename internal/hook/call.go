package hook

import (
	"strings"

	"cordon/internal/client"
	"cordon/internal/guard"
	"cordon/internal/tool"
)

// callOf is a client's request in the guard's terms.
func callOf(r client.Request) guard.Call {
	c := guard.Call{Tool: r.Tool, Cwd: r.Place(), Shell: r.Commands}
	for _, p := range r.Paths {
		role := tool.Read
		if p.Write {
			role = tool.Write
		}
		c.Paths = append(c.Paths, tool.Access{Role: role, Path: p.Path})
	}
	if r.Kind == client.Worktree {
		c.Findings = append(c.Findings, leasedTree)
	}
	for _, d := range r.Dangers {
		if f, ok := danger(d); ok {
			c.Findings = append(c.Findings, f)
		}
	}
	return c
}

// danger is what to say about something that neither a path nor a command tells.
func danger(d client.Danger) (tool.Finding, bool) {
	switch d {
	case client.Isolated:
		return tool.Finding{Weight: tool.Deny, Reason: "that starts an agent in a worktree of its own, outside of your lease",
			Instead: "start it without isolation, so that it works in your worktree"}, true
	case client.Typed:
		return tool.Finding{Weight: tool.Deny, Reason: "what is typed into a running process cannot be judged",
			Instead: "run a new command with its input in a here-document"}, true
	case client.Foreign:
		return tool.Finding{Weight: tool.Ask, Reason: "a command for a shell that is not POSIX cannot be judged",
			Instead: "use the shell tool with a bash command"}, true
	case client.Elsewhere:
		return tool.Finding{Weight: tool.Deny, Reason: "that reaches another session, which is not yours",
			Instead: "do the work in this session; if you need an answer, stop and ask"}, true
	case client.Later:
		return tool.Finding{Weight: tool.Ask, Reason: "that is carried out later, when nobody watches", Instead: "do it now, in this run"}, true
	case client.Opaque:
		return tool.Finding{Weight: tool.Ask, Reason: "what that tool runs cannot be told from the call", Instead: "use the shell tool with a bash command"}, true
	}
	return tool.Finding{}, false // Unsandboxed and Escalated change nothing: the cell is not the client's
}

// leasedTree is said to tools that change the worktree.
var leasedTree = tool.Finding{Weight: tool.Deny, Reason: "the worktree of this worker is given by its lease", Instead: "go on in the worktree you are in"}

// summary is a call in a line.
func summary(c guard.Call) string {
	parts := append([]string{}, c.Shell...)
	for _, a := range c.Paths {
		parts = append(parts, a.Path)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
