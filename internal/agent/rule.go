package agent

import (
	"fmt"
	"strings"
)

// mostRules is how many rules one pattern may become.
const mostRules = 64

// fileRules are the rules of a tool for an absolute glob, and for everything below
// what it matches. The client's patterns are those of a .gitignore: they know no
// groups of alternatives, which become a rule each.
func fileRules(tool, glob string) ([]string, error) {
	globs := alternatives(glob)
	if len(globs) > mostRules {
		return nil, fmt.Errorf("%s stands for more than %d patterns", glob, mostRules)
	}
	rules := make([]string, len(globs))
	for i, g := range globs {
		rules[i] = tool + "(/" + parentheses.Replace(g) + ")"
	}
	return rules, nil
}

// parentheses end a rule.
var parentheses = strings.NewReplacer("(", `\(`, ")", `\)`)

// alternatives are what the groups {a,b} of a glob stand for.
func alternatives(glob string) []string {
	open, end := innermost(glob)
	if end < 0 {
		return []string{glob}
	}
	var list []string
	for _, choice := range strings.Split(glob[open+1:end], ",") {
		list = append(list, alternatives(glob[:open]+choice+glob[end+1:])...)
		if len(list) > mostRules {
			break
		}
	}
	return list
}

// innermost finds a group that holds no other. Without one, end is -1.
func innermost(glob string) (open, end int) {
	open = -1
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			open = i
		case '}':
			if open >= 0 {
				return open, i
			}
		}
	}
	return -1, -1
}

// escape is a path as a glob that matches nothing else.
func escape(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

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
