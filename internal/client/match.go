package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A matcher says in the words of hookTools for which tools a hook runs. The clients call
// the same tools by other names: one that is handed on as it is matches nothing
// there, and the operator believes that the hook is asked.

// matcher is one that was read: a list of names, an expression, or neither for all.
type matcher struct {
	names []string
	expr  *regexp.Regexp
}

func readMatcher(text string) (matcher, error) {
	if MatchesAll(text) {
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

// Pattern is the matcher of an entry as an expression for the tools of a client,
// or "*". It is an error if it would match none: nothing is lost in silence.
func (e Entry) Pattern(d *Dialect) (string, error) {
	m, err := readMatcher(e.Matcher)
	switch {
	case err != nil:
		return "", err
	case MatchesAll(e.Matcher):
		return "*", nil
	case !e.OfTools() && m.expr != nil:
		return e.Matcher, nil
	case !e.OfTools():
		return exactly(m.names), nil
	case m.expr != nil:
		return m.translated(d, e.Matcher)
	}
	var names []string
	for _, name := range m.names {
		own, err := d.namesFor(name)
		if err != nil {
			return "", err
		}
		names = appendNew(names, own...)
	}
	return exactly(names), nil
}

// OfTools reports whether what an entry matches are names of tools.
func (e Entry) OfTools() bool {
	event, ok := hookEvent(e.Event)
	return ok && (event == PreTool || event == PostTool || event == Permission)
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
// that do what those of hookTools do that it matches.
func (m matcher) translated(d *Dialect, text string) (string, error) {
	if d.Native {
		return text, nil
	}
	if strings.Contains(text, "mcp__") {
		if d.MCP == nil {
			return text, nil // it calls them so itself
		}
		return "", fmt.Errorf("it calls the tools of MCP servers in its own way: name those that %.60q is for", text)
	}
	var own, others []string
	for _, t := range d.Tools {
		if m.expr.MatchString(t.Name) {
			own = append(own, t.Name)
		}
	}
	for _, group := range hookTools {
		for _, name := range strings.Fields(group.names) {
			if names, err := d.namesFor(name); err == nil && m.expr.MatchString(name) {
				others = appendNew(others, names...)
			}
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
// do the same as the one that hooks call so. A hook may run once too often; it
// must not be left out.
func (d *Dialect) namesFor(name string) ([]string, error) {
	if server, tool, ok := mcpTool(name); ok {
		if d.MCP != nil {
			return []string{d.MCP(server, tool)}, nil
		}
		return []string{name}, nil
	}
	var names []string
	same := kindsLike(kindOfName(name))
	for _, t := range d.Tools {
		if t.Name == name || !d.Native && (spelledAlike(t.Name, name) || slices.Contains(same, t.Kind)) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("it has no tool %.60q that is known here", name)
	}
	return names, nil
}

// hookTools are the names of tools that hooks are written in, which are those of a
// Native client, and what each of them does.
var hookTools = []struct {
	kind  Kind
	names string
}{
	{Shell, "Bash Monitor"},
	{Note, "BashOutput KillShell TaskOutput TaskStop"},
	{Read, "Read NotebookRead"},
	{Write, "Write Artifact"},
	{Edit, "Edit MultiEdit"},
	{Notebook, "NotebookEdit"},
	{Search, "Glob Grep LS LSP"},
	{Worktree, "EnterWorktree ExitWorktree"},
	{Agent, "Agent Task Workflow"},
	{Unknown, "Projects"},
	{Skill, "Skill SlashCommand"},
	{Fetch, "WebFetch WebSearch"},
	{Schedule, "ScheduleWakeup CronCreate"},
	{Message, "SendMessage ListAgents"},
	{Note, "TodoWrite TaskCreate TaskUpdate TaskGet TaskList ToolSearch EnterPlanMode ExitPlanMode"},
	{Question, "AskUserQuestion"},
}

// HookTool is what the tool does that hooks call so.
func HookTool(name string) (Kind, bool) {
	for _, group := range hookTools {
		if slices.Contains(strings.Fields(group.names), name) {
			return group.kind, true
		}
	}
	return "", false
}

// kindOfName is the same; "" for a name that is not known.
func kindOfName(name string) Kind {
	kind, _ := HookTool(name)
	return kind
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

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
