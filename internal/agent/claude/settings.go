package claude

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"cordon/internal/agent"
)

// settings is a settings file of Claude.
type settings map[string]any

// permissionRules are the permissions of a lease. Claude matches files with Read and Edit
// only, and Edit is about every tool that writes; what no rule allows is refused, so
// that write_roots hold. The shell is allowed: a rule cannot say what a command does,
// and the cell holds. The tools that are denied are those that the guard always
// refuses.
func permissionRules(r agent.Rules) (map[string]any, error) {
	allow := []string{"Agent", "Bash", "Monitor", "Read", "Skill", "Workflow"}
	deny := []string{"EnterWorktree", "ExitWorktree", "ListAgents", "SendMessage"}
	tree := agent.EscapeGlob(r.Tree)
	for _, root := range r.Write {
		pattern := tree + "/" + root
		if root == "." {
			pattern = tree + "/**"
		}
		rules, err := fileRules("Edit", pattern)
		if err != nil {
			return nil, err
		}
		allow = append(allow, rules...)
	}
	for _, below := range r.DenyWrite {
		rules, err := fileRules("Edit", tree+"/"+below)
		if err != nil {
			return nil, err
		}
		deny = append(deny, rules...)
	}
	for _, pattern := range r.DenyRead {
		rules, err := fileRules("Read", pattern)
		if err != nil {
			return nil, err
		}
		deny = append(deny, rules...)
	}
	fetch := fetchRules(r.Domains)
	if len(fetch) == 0 {
		deny = append(deny, "WebFetch")
	}
	if r.Web { // Anthropic's servers search; fetching is the client's own
		allow = append(allow, "WebSearch")
	} else {
		deny = append(deny, "WebSearch")
	}
	return map[string]any{"allow": append(allow, fetch...), "deny": deny}, nil
}

// permissions are the permissions alone.
func permissions(r agent.Rules) ([]byte, error) {
	rules, err := permissionRules(r)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(settings{"permissions": rules}, "", "  ")
}

// launchSettings are the settings of a launch: the hooks, the rules, and every switch that
// a project could turn.
func launchSettings(o agent.Order) (settings, error) {
	hooks, err := agent.HookSettings(o.Wiring())
	if err != nil {
		return nil, err
	}
	s := settings(hooks)
	rules, err := permissionRules(o.Rules)
	if err != nil {
		return nil, err
	}
	rules["allow"] = slices.Concat(rules["allow"].([]string), extraTools(o.Args), allowServers(o.Servers))
	rules["disableBypassPermissionsMode"], rules["disableAutoMode"] = "disable", "disable"
	s["permissions"] = rules
	s["autoMemoryEnabled"] = false // it is shared by every worktree of a repository
	s["enableAllProjectMcpServers"] = false
	helperSettings(o, s)
	if o.Managed {
		s["allowManagedHooksOnly"], s["allowManagedPermissionRulesOnly"] = true, true
	}
	return s, nil
}

// over puts cordon's settings over those of the machine: its hooks run as well, its
// rules hold as well, and where both say something of a switch it is cordon's word. The
// operator's choices come last.
func (s settings) over(machine []byte, chosen agent.Chosen) ([]byte, error) {
	theirs := settings{}
	if len(machine) > 0 {
		if err := json.Unmarshal(machine, &theirs); err != nil {
			return nil, fmt.Errorf("%s of this machine cannot be read: %w", Managed, err)
		}
	}
	plain, err := s.plain()
	if err != nil {
		return nil, err
	}
	merged, ok := merge(merge(chosen.Settings(), map[string]any(theirs)), map[string]any(plain)).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s of this machine is no object", Managed)
	}
	return json.MarshalIndent(merged, "", "  ")
}

// plain is settings as JSON has them.
func (s settings) plain() (settings, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := settings{}
	return out, json.Unmarshal(text, &out)
}

// merge puts one value of JSON over another: members of objects one by one, lists
// one behind the other without doubles, and of everything else the upper one.
func merge(lower, upper any) any {
	switch up := upper.(type) {
	case map[string]any:
		low, ok := lower.(map[string]any)
		if !ok {
			return up
		}
		for key, v := range up {
			if was, both := low[key]; both {
				v = merge(was, v)
			}
			low[key] = v
		}
		return low
	case []any:
		low, _ := lower.([]any)
		for _, v := range low {
			if !slices.ContainsFunc(up, func(u any) bool { return reflect.DeepEqual(u, v) }) {
				up = append(up, v)
			}
		}
		return up
	}
	return upper
}
