package gemini

import (
	"regexp"
	"strings"

	"cordon/internal/agent"
)

// expression is a glob as an expression that is held against a path in JSON, of
// everything that it matches and of everything below that. Gemini takes none with a
// group that is repeated or left out: it has an empty alternative instead.
func expression(glob string) string {
	if glob == "." {
		return `[^"]*`
	}
	var list []string
	for _, g := range agent.Alternatives(glob) {
		list = append(list, simpleExpression(strings.TrimSuffix(strings.TrimPrefix(g, "./"), "/**")))
	}
	return "(?:" + strings.Join(list, "|") + `)(?:/[^"]*|)`
}

// simpleExpression is one of a glob without alternatives.
func simpleExpression(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:[^"]*/|)`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`[^"]*`)
			i++
		case c == '*':
			b.WriteString(`[^/"]*`)
		case c == '?':
			b.WriteString(`[^/"]`)
		case c == '\\' && i+1 < len(glob):
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return b.String()
}
