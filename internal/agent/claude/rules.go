package claude

import (
	"fmt"
	"strings"

	"cordon/internal/agent"
)

// fileRules are the rules of a tool for an absolute glob, and for everything below
// what it matches. The client's patterns are those of a .gitignore: they know no
// groups of alternatives, which become a rule each.
func fileRules(tool, glob string) ([]string, error) {
	globs := agent.Alternatives(glob)
	if len(globs) > agent.MostRules {
		return nil, fmt.Errorf("%s stands for more than %d patterns", glob, agent.MostRules)
	}
	rules := make([]string, len(globs))
	for i, g := range globs {
		rules[i] = tool + "(/" + parentheses.Replace(g) + ")"
	}
	return rules, nil
}

// parentheses end a rule.
var parentheses = strings.NewReplacer("(", `\(`, ")", `\)`)

// fetchRules are the domains that can be said in a rule: names, and what is below a
// name. The way out of the cell holds for those and for the others.
func fetchRules(domains []string) []string {
	var rules []string
	for _, d := range domains {
		if !strings.HasPrefix(d, "@") && !strings.ContainsAny(strings.TrimPrefix(d, "*."), "*:/[]() ") {
			rules = append(rules, "WebFetch(domain:"+d+")")
		}
	}
	return rules
}

// allowServers are the rules that let the servers' tools run without a question.
func allowServers(servers []agent.Server) []string {
	var rules []string
	for _, s := range servers {
		rules = append(rules, "mcp__"+s.Name)
	}
	return rules
}
