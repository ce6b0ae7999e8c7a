package launch

import (
	"slices"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// AgentRules are what a client's own permissions can express of a lease. The cell and
// the audit hold the whole of it; these make a client say so beforehand.
func AgentRules(s lease.Sealed) agent.Rules { return agentRules(s, s.Rules().DenyRead()) }

// cellRules are those that a client in a cell gets. A cell with all its layers shows nothing
// of the built-in list of deny_read, and a client needs time for each rule: one of them a quarter
// of a second for these six hundred.
func cellRules(s lease.Sealed) agent.Rules {
	if s.Lease().Policy.Isolation != policy.Strict {
		return AgentRules(s)
	}
	return agentRules(s, s.Rules().OwnDenyRead())
}

func agentRules(s lease.Sealed, unread []policy.Deny) agent.Rules {
	l, rules := s.Lease(), s.Rules()
	r := agent.Rules{Tree: l.Worktree, Write: rules.Roots(), DenyWrite: steeringNames(rules.Roots()), Web: l.Policy.Agent.Web}
	for _, d := range rules.DenyWrite() {
		if tail, ok := belowTree(d.Pattern, l.Worktree); ok && !d.Outside {
			r.DenyWrite = append(r.DenyWrite, tail)
		}
	}
	for _, d := range unread {
		if !d.Outside || sparesTree(d.Pattern, l.Worktree) {
			r.DenyRead = append(r.DenyRead, d.Pattern)
		}
	}
	if !l.Policy.Network.Older() {
		r.Domains = l.Policy.Network.AllowedDomains
	}
	return r
}

// belowTree is a glob of the rules relative to the worktree that it is written below.
func belowTree(pattern, tree string) (string, bool) {
	return strings.CutPrefix(pattern, policy.EscapeGlob(tree)+"/")
}

// sparesTree reports whether what an entry about the outside names is sure not to hold
// the worktree: a client knows no entry that is about the outside only.
func sparesTree(pattern, tree string) bool {
	return !strings.ContainsAny(pattern, `*?[{\`) && pattern != "/" && pattern != tree && !strings.HasPrefix(tree, pattern+"/")
}

// steeringNames are the names in a tree that a client must not change, since they steer
// git, cordon or a client: the protected ones of these, where no root names them.
func steeringNames(roots []string) []string {
	var list []string
	for _, p := range policy.Protected() {
		if p.Group != "git" && p.Group != "cordon" && p.Group != "agent clients" {
			continue
		}
		named := func(root string) bool {
			return strings.Contains("/"+strings.ToLower(root)+"/", "/"+p.Name+"/")
		}
		if p.Never || !slices.ContainsFunc(roots, named) {
			list = append(list, "**/"+p.Name)
		}
	}
	return list
}
