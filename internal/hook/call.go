package hook

import (
	"slices"
	"strings"

	"cordon/internal/client"
	"cordon/internal/codewords"
	"cordon/internal/commands"
	"cordon/internal/guard"
)

// callOf is a client's request in the guard's terms.
func callOf(r client.Request) guard.Call {
	c := guard.Call{Tool: r.Tool, Cwd: r.Place(), Shell: r.Commands}
	for _, p := range r.Paths {
		role := commands.Read
		if p.Write {
			role = commands.Write
		}
		c.Paths = append(c.Paths, commands.Access{Role: role, Path: p.Path})
	}
	if r.Kind == client.Worktree {
		c.Findings = append(c.Findings, leasedTree)
	}
	c.Remote = slices.Contains(r.Dangers, client.Remote)
	for _, d := range r.Dangers {
		if f, ok := danger(d); ok {
			c.Findings = append(c.Findings, f)
		}
	}
	return c
}

// danger is what to say about something that neither a path nor a command tells.
func danger(d client.Danger) (commands.Finding, bool) {
	switch d {
	case client.Isolated:
		return commands.Finding{Weight: commands.Deny, Reason: "that starts an agent in its own worktree, outside your lease",
			Instead: "start it without isolation, so that it works in your worktree"}, true
	case client.Typed:
		return commands.Finding{Weight: commands.Deny, Reason: "cordon cannot judge input for a running process",
			Instead: "run a new command with its input in a here-document"}, true
	case client.Foreign:
		return commands.Finding{Weight: commands.Ask, Reason: "cordon cannot judge a command for a shell that is not POSIX",
			Instead: "use the shell tool with a bash command"}, true
	case client.Elsewhere:
		return commands.Finding{Weight: commands.Deny, Reason: "that reaches another session, which is not yours",
			Instead: "do the work in this session; if you need an answer, stop and ask"}, true
	case client.Later:
		return commands.Finding{Weight: commands.Ask, Reason: "that would run later, when nobody is watching", Instead: "do it now, in this run"}, true
	case client.Opaque:
		return commands.Finding{Weight: commands.Ask, Reason: "the call does not show what that tool runs",
			Instead: "use the shell tool with a bash command"}, true
	}
	return commands.Finding{}, false // Unsandboxed and Escalated change nothing: the cell is not the client's
}

// leasedTree is said to tools that change the worktree.
var leasedTree = commands.Finding{Weight: commands.Deny, Reason: "the worktree of this worker is given by its lease",
	Instead: "continue in your present worktree"}

// said are the words of a call behind cordon, if it is one command of cordon's and nothing else.
func said(c guard.Call) []string {
	if len(c.Shell) != 1 || !strings.HasPrefix(c.Shell[0], "cordon ") {
		return nil
	}
	words, ok := codewords.Simple(c.Shell[0])
	if !ok {
		return nil
	}
	return words[1:]
}

// summary is a call in a line.
func summary(c guard.Call) string {
	parts := append([]string{}, c.Shell...)
	for _, a := range c.Paths {
		parts = append(parts, a.Path)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
