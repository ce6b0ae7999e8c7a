package qwen

import (
	"path"

	"cordon/internal/agent"
)

// permissions are the permissions alone.
func permissions(r agent.Rules) ([]byte, error) {
	return agent.Compact(map[string]any{"permissions": permissionRules(r)})
}

// permissionRules are the permissions of a lease. A rule without a path is about every call of a tool, and
// Edit is about every tool that writes. What no rule names would be asked about, and refused where there
// is nobody to ask; so each tool is allowed, the rules deny, and the guard says the rest.
func permissionRules(r agent.Rules) map[string]any {
	allow := []string{
		"run_shell_command", "monitor", "edit", "write_file", "notebook_edit", "read_file", "web_fetch", "agent", "skill", "workflow",
	}
	deny := []string{"enter_worktree", "exit_worktree", "exec"}
	if r.Web { // the servers of its maker search; fetching is the client's own
		allow = append(allow, "web_search")
	} else {
		deny = append(deny, "web_search")
	}
	for _, below := range r.DenyWrite {
		deny = append(deny, fileRules("Edit", agent.EscapeGlob(r.Tree)+"/"+below)...)
	}
	for _, pattern := range r.DenyRead {
		deny = append(deny, fileRules("Read", pattern)...)
	}
	return map[string]any{"allow": allow, "deny": deny}
}

// fileRules are about what a glob matches, and about everything below that. An absolute one has two
// slashes in front.
func fileRules(tool, glob string) []string {
	var list []string
	for _, g := range agent.Alternatives(glob) {
		list = append(list, tool+"(/"+g+")", tool+"(/"+path.Join(g, "**")+")")
	}
	return list
}
