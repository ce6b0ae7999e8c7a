package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A matcher says in Claude's words for which tools a hook runs. The clients call
// the same tools by other names: one that is handed on as it is matches nothing
// there, and the operator believes that the hook is asked.

// matcher is one that was read: a list of names, an expression, or neither for all.
type matcher struct {
	names []string
	expr  *regexp.Regexp
}

func readMatcher(text string) (matcher, error) {
	if all(text) {
		return matcher{}, nil
	}
	if !strings.ContainsFunc(text, notInNames) {
		names := strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
		if len(names) == 0 {
			return matcher{}, fmt.Errorf("the matcher %.60q matches nothing", text)
		}
		return matcher{names: names}, nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return matcher{}, fmt.Errorf("matcher: %w", err)
	}
	return matcher{expr: expr}, nil
}

// notInNames reports whether a character makes an expression of a list of names.
func notInNames(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_|, -", r))
}

// pattern is the matcher of an entry as an expression for the tools of a client,
// or "*". It is an error if it would match none: nothing is lost in silence.
func (e Entry) pattern(n Name) (string, error) {
	m, err := readMatcher(e.Matcher)
	switch {
	case err != nil:
		return "", err
	case all(e.Matcher):
		return "*", nil
	case !e.ofTools() && m.expr != nil:
		return e.Matcher, nil
	case !e.ofTools():
		return exactly(m.names), nil
	case m.expr != nil:
		return m.translated(n, e.Matcher)
	}
	var names []string
	for _, name := range m.names {
		own, err := namesFor(n, name)
		if err != nil {
			return "", err
		}
		names = appendNew(names, own...)
	}
	return exactly(names), nil
}

// ofTools reports whether what an entry matches are names of tools.
func (e Entry) ofTools() bool {
	row, ok := e.row()
	return ok && (row.event == PreTool || row.event == PostTool || row.event == Permission)
}

// exactly is an expression for just these names.
func exactly(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// translated is an expression that matches what it says, and the tools of a client
// that do what those of Claude do that it matches.
func (m matcher) translated(n Name, text string) (string, error) {
	if n == Claude {
		return text, nil
	}
	if strings.Contains(text, "mcp__") {
		if n == Codex {
			return text, nil // it calls them as Claude does
		}
		return "", fmt.Errorf("it calls the tools of MCP servers in its own way: name those that %.60q is for", text)
	}
	var own, others []string
	for _, t := range toolsOf(n) {
		if m.expr.MatchString(t.name) {
			own = append(own, t.name)
		}
	}
	for _, t := range claudeTools {
		if names, err := namesFor(n, t.name); err == nil && m.expr.MatchString(t.name) {
			others = appendNew(others, names...)
		}
	}
	switch {
	case len(own)+len(others) == 0:
		return "", fmt.Errorf("it has no tool that %.60q matches", text)
	case len(others) == 0:
		return text, nil
	}
	return "(" + text + ")|" + exactly(others), nil
}

// namesFor are a client's names for a tool: the same, and those of the tools that
// do the same as the one that Claude calls so. A hook may run once too often; it
// must not be left out.
func namesFor(n Name, name string) ([]string, error) {
	if server, tool, ok := mcpTool(name); ok {
		return []string{mcpName(n, server, tool)}, nil
	}
	var names []string
	same := kindsLike(kindOfName(name))
	for _, t := range toolsOf(n) {
		if t.name == name || n != Claude && (spelledAlike(t.name, name) || slices.Contains(same, t.kind)) {
			names = append(names, t.name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("it has no tool %.60q that is known here", name)
	}
	return names, nil
}

// kindOfName is what the tool does that Claude calls so.
func kindOfName(name string) Kind {
	for _, t := range claudeTools {
		if t.name == name {
			return t.kind
		}
	}
	return ""
}

// kindsLike are the kinds that a hook for one of them is for. What clients keep for
// themselves has none: there, only the name says what a tool is.
func kindsLike(k Kind) []Kind {
	switch k {
	case Shell, Read, Search, Fetch, Agent, Skill, Question, Worktree, Schedule:
		return []Kind{k}
	case Write, Edit, Notebook:
		return []Kind{k, Patch} // a patch does all of that
	}
	return nil
}

func spelledAlike(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

// mcpTool takes mcp__server__tool apart.
func mcpTool(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// mcpName is what a client calls a tool of a server.
func mcpName(n Name, server, tool string) string {
	switch n {
	case Gemini:
		return "mcp_" + server + "_" + tool
	case OpenCode:
		return server + "_" + tool
	}
	return "mcp__" + server + "__" + tool
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
