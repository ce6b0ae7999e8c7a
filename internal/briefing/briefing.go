// Package briefing writes the rules of a lease for the agent that has to keep them:
// where it works, what it may do, what it may not, what is done wrong most often,
// and what to do when it needs something else.
//
// It is explanation, not protection, and it is read by something untrusted: the
// package refuses to name the operator's repository, its path or anything else of
// the machine that the worker does not need. No absolute path is ever in it, and
// nothing that a policy or a repository contains can end the line it is shown in.
package briefing

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/lease"
	"cordon/internal/policy"
)

// File is the name of a briefing beside the socket of its worker.
const File = "briefing.md"

// Text is the briefing of a lease, in Markdown. hooked says that a guard judges
// each call and explains its refusals.
func Text(s lease.Sealed, hooked bool) string {
	t := terms{Lease: s.Lease(), rules: s.Rules(), hooked: hooked}
	var b strings.Builder
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"# Your workspace", t.where()},
		{"## ALLOWED", t.allowed()},
		{"## FORBIDDEN", t.forbidden()},
		{"## Common mistakes", t.mistakes()},
		{"## When a call is refused", t.refusals()},
		{"## Limits", t.limits()},
		{"## What happens to your work", t.fate()},
		{"## When you need something else", t.need()},
	} {
		if len(part.lines) > 0 {
			b.WriteString(part.title + "\n\n" + strings.Join(part.lines, "\n") + "\n\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// terms are what the sections are written from.
type terms struct {
	lease.Lease
	rules  policy.Rules
	hooked bool
}

// unconfined reports that nothing but the audit holds the worker.
func (t terms) unconfined() bool { return t.Policy.Isolation == policy.None }

func (t terms) where() []string {
	tree, more := "a private git worktree", ""
	if t.Adopted {
		tree, more = "a git worktree that was there before you", " It may hold changes that are not committed."
	}
	lines := []string{fmt.Sprintf("You are worker %s. You work alone in your current directory: %s, on %s, at commit %s.%s",
		code(string(t.ID)), tree, t.branch(t.Branch, "a branch of its own"), code(t.Base.Short()), more)}
	lines = append(lines, "Start every command there, and write every path relative to it.")
	if t.unconfined() {
		return append(lines, "Nothing stops you at its edge, so stay inside it: the audit finds every change outside afterwards, "+
			"and then none of your work is used.")
	}
	return append(lines, "You are confined to it by the kernel. You cannot see other trees or the operator's repository.")
}

func (t terms) allowed() []string {
	lines := []string{"- " + t.writes()}
	if list := t.scratch(); list != "" {
		lines = append(lines, "- Use "+list+" as scratch space: what you leave there is not kept.")
	}
	if t.unconfined() {
		lines = append(lines, "- Use the temporary directory for files that are not part of the result.")
	} else {
		lines = append(lines, "- Use the temporary directory and your home for files that are not part of the result: both are private copies that are not kept.")
	}
	lines = append(lines, "- "+t.reads(), "- Build, test and run anything in the tree.")
	if len(t.rules.Roots()) > 0 {
		lines = append(lines, "- Commit on your branch as often as you like; name and e-mail are set. Uncommitted work counts too.")
	}
	lines = append(lines, "- "+t.network())
	return append(lines, t.published()...)
}

// published says on which ports the operator looks at servers of the worker, and what else
// its processes may do.
func (t terms) published() (lines []string) {
	var ports []string
	for _, p := range t.Policy.Network.Publish {
		ports = append(ports, fmt.Sprint(p))
	}
	if len(ports) > 0 && !t.unconfined() {
		lines = append(lines, "- Show a web page: the operator's browser reaches a server of yours that listens on port "+strings.Join(ports, " or ")+
			" (plain HTTP and WebSockets), while you run. Use URLs relative to its host. Any other port is seen by you alone. "+
			"To have the operator look at it, ask with `cordon ask` before you end.")
	}
	if t.Policy.Cell.Trace && !t.unconfined() {
		lines = append(lines, "- Trace your own processes: debuggers, strace and LeakSanitizer work.")
	}
	return lines
}

func (t terms) writes() string {
	roots := t.rules.Roots()
	switch {
	case len(roots) == 0:
		return "Change nothing: this lease is read-only. Look, run and report."
	case len(roots) == 1 && roots[0] == ".":
		return "Create, change and delete files anywhere in the tree, except for the paths listed as forbidden."
	}
	return "Create, change and delete files in " + t.list(roots) + ", and nowhere else in the tree."
}

func (t terms) reads() string {
	if slices.Contains(t.rules.ReadRoots(), "/") {
		return "Read everything in the tree, and the tools and libraries of this machine."
	}
	return "Read everything in the tree. Outside it, you see only what the operator opened."
}

func (t terms) scratch() string {
	var shown places
	for _, p := range t.rules.ScratchRoots() {
		shown.add(t.relative(p))
	}
	return t.places(shown, "other places that the policy names")
}

func (t terms) network() string {
	net := t.Policy.Network
	if net.Older() {
		net.AllowedDomains, net.HostPorts = nil, nil
	}
	var ports []string
	for _, p := range net.HostPorts {
		ports = append(ports, fmt.Sprintf("localhost:%d", p))
	}
	switch {
	case len(net.AllowedDomains)+len(ports) == 0 && t.unconfined():
		return "Do not use the network: nothing in this lease needs it."
	case len(net.AllowedDomains)+len(ports) == 0:
		return "There is no network. Do not try to download anything; work with what is here."
	}
	return "Reach " + t.list(append(ports, net.AllowedDomains...)) + " over the network, and nothing else."
}
