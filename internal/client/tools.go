package client

import (
	"fmt"
	"slices"
	"strings"
)

// tool is what is known about one tool of one client.
type tool struct {
	name    string
	kind    Kind
	fields  []field
	dangers []Danger
}

// field is one member of a tool's input.
type field struct {
	key  string
	role role
}

// role says what a member of an input is.
type role byte

const (
	prose   role = iota // text, however much it looks like a path or a command
	command             // shell text
	argv                // shell text, or a program and its arguments
	dir                 // where the command runs
	read                // a path, or several, that is read
	write               // a path, or several, that is written
	place               // a directory that is read; the current one if it is not said
	glob                // a pattern of paths below the place
	patch               // a patch, whose lines name files
	program             // a program, by name or by path
)

// toolOf finds what is known about a tool; about one that is not in the tables
// everything is looked for in its input.
func toolOf(n Name, name string) *tool {
	for _, t := range toolsOf(n) {
		if t.name == name {
			return &t
		}
	}
	if prefix, kind, ok := familyOf(n, name); ok {
		return &tool{name: prefix, kind: kind}
	}
	return &tool{name: name, kind: Unknown}
}

func toolsOf(n Name) []tool {
	switch n {
	case Claude:
		return claudeTools
	case Codex:
		return codexTools
	case Gemini:
		return geminiTools
	case Copilot:
		return copilotTools
	case OpenCode:
		return openCodeTools
	}
	return nil
}

// familyOf knows tools by how their names begin.
func familyOf(n Name, name string) (string, Kind, bool) {
	switch {
	case n == Gemini && strings.HasPrefix(name, "mcp_"), strings.HasPrefix(name, "mcp__"):
		return name, MCP, true
	case n == Claude && strings.HasPrefix(name, "Cron"):
		return name, Schedule, true
	}
	return "", "", false
}

func (t *tool) role(key string) (role, bool) {
	for _, f := range t.fields {
		if f.key == key {
			return f.role, true
		}
	}
	return 0, false
}

// writes reports whether what the tool names for no known reason is written.
func (t *tool) writes() bool {
	switch t.kind {
	case Write, Edit, Notebook, Patch, Worktree:
		return true
	case MCP, Unknown:
		return anyWord(t.name, writingWords[:])
	}
	return false
}

// collect takes from an input what its tool is known to take, and what the names
// of its other members say.
func (r *Request) collect(t *tool, input value) error {
	r.Dangers = append(dangersOf(input), t.dangers...)
	if t.kind == Schedule {
		r.Dangers = append(r.Dangers, Later)
	}
	if t.kind == Unknown || t.kind == MCP {
		return r.unknown(t, input)
	}
	s := scan{r: r, writing: t.writes(), tool: t.name}
	for _, m := range input.members {
		if m.is == isNull {
			continue
		}
		if role, known := t.role(m.key); !known {
			s.named(m)
		} else if err := r.take(role, m, t, input); err != nil {
			return err
		}
	}
	r.settle(t, input)
	return s.err
}

// take puts one member where its role says.
func (r *Request) take(role role, m member, t *tool, input value) error {
	if role == prose {
		return nil
	}
	texts, ok := m.texts()
	if !ok || len(texts) == 0 && role != read && role != place && role != glob || (m.is == isList && (role == command || role == dir || role == program)) {
		return fmt.Errorf("%q is not text", m.key)
	}
	switch role {
	case command, argv:
		r.Commands = append(r.Commands, commandText(m.value, texts))
	case dir:
		if r.Dir != "" && r.Dir != texts[0] {
			return fmt.Errorf("it is to run in two directories")
		}
		r.Dir = texts[0]
	case read, write, place:
		for _, p := range texts {
			if role == place && p == "" {
				p = "."
			}
			r.Paths = append(r.Paths, Path{p, role == write})
		}
	case glob:
		for _, p := range texts {
			r.Paths = append(r.Paths, Path{globRoot(placeOf(t, input), p), false})
		}
	case patch:
		return r.patched(texts)
	case program:
		if strings.Contains(texts[0], "/") {
			r.Paths = append(r.Paths, Path{texts[0], false})
		}
	}
	return nil
}

// commandText is shell text: as it is, or made of the parts of an argv.
func commandText(v value, texts []string) string {
	if v.is == isString {
		return v.text
	}
	return quoteAll(texts)
}

// placeOf is the directory that a search starts from.
func placeOf(t *tool, input value) string {
	for _, f := range t.fields {
		if v, ok := input.get(f.key); ok && f.role == place && v.is == isString {
			return v.text
		}
	}
	return "."
}

// settle adds what a call means without saying it.
func (r *Request) settle(t *tool, input value) {
	if searchesHere(t, input) {
		r.Paths = append(r.Paths, Path{".", false})
	}
	if verb, _ := input.string("command"); t.name == "str_replace_editor" && verb == "view" {
		r.Kind = Read
		for i := range r.Paths {
			r.Paths[i].Write = false
		}
	}
	if len(r.Commands) == 1 && r.Commands[0] == "" && slices.Contains(t.dangers, Typed) {
		r.Kind, r.Commands, r.Dangers = Note, nil, nil // nothing is typed: it only waits for what is printed
	}
	if r.Client == Gemini && t.name == "save_memory" {
		r.Paths = append(r.Paths, Path{"~/.gemini/GEMINI.md", true})
	}
}

// searchesHere reports whether a tool that searches a place was told none.
func searchesHere(t *tool, input value) bool {
	searches := false
	for _, f := range t.fields {
		if f.role == place && input.has(f.key) {
			return false
		}
		searches = searches || f.role == place
	}
	return searches
}

// dangersOf looks for the switches that loosen what a client does itself.
// Anything but a plain no counts as a yes.
func dangersOf(input value) (list []Danger) {
	for _, m := range input.members {
		no := m.is == isNull || m.text == "false" || m.is == isString && m.text == ""
		if no {
			continue
		}
		switch m.key {
		case "dangerouslyDisableSandbox":
			list = append(list, Unsandboxed)
		case "with_escalated_permissions":
			list = append(list, Escalated)
		case "sandbox_permissions":
			if m.text != "use_default" {
				list = append(list, Escalated)
			}
		case "isolation":
			if m.text != "none" {
				list = append(list, Isolated)
			}
		}
	}
	return list
}
