package client

import (
	"fmt"
	"slices"
	"strings"
)

// Tool is what is known about one tool of one client: what it does, and what the members
// of its input are, by their keys with spaces between them.
type Tool struct {
	Name string
	Kind Kind

	Command string // shell text
	Argv    string // shell text, or a program and its arguments
	Read    string // a path, or several, that is read
	Write   string // a path, or several, that is written
	Place   string // a directory that is read; the current one if it is not said
	Glob    string // a pattern of paths below the place
	Patch   string // a patch, whose lines name files
	Dir     string // where the command runs
	Program string // a program, by name or by path
	Prose   string // text, however much it looks like a path or a command

	Dangers []Danger
	// Here is a member with which, if it is the only one, the client itself does it: the Dangers do not hold.
	Here string
	// ReadsOn is the value of the member "command" with which it only reads.
	ReadsOn string
	// Touches are paths that it does not name.
	Touches []Path
}

// role says what a member of an input is.
type role byte

const (
	prose role = iota
	command
	argv
	dir
	read
	write
	place
	glob
	patch
	program
)

// field is one member of a tool's input.
type field struct {
	key  string
	role role
}

// fields are the members that are known, those first that best say what a call is about.
func (t *Tool) fields() []field {
	var list []field
	for _, group := range []struct {
		keys string
		role role
	}{
		{t.Command, command}, {t.Argv, argv}, {t.Read, read}, {t.Write, write}, {t.Place, place}, {t.Glob, glob}, {t.Patch, patch},
		{t.Dir, dir}, {t.Program, program}, {t.Prose, prose},
	} {
		for _, key := range strings.Fields(group.keys) {
			list = append(list, field{key, group.role})
		}
	}
	return list
}

// roleOf finds a member among those that are known.
func roleOf(fields []field, key string) (role, bool) {
	for _, f := range fields {
		if f.key == key {
			return f.role, true
		}
	}
	return 0, false
}

// writes reports whether what the tool names for no known reason is written.
func (t *Tool) writes() bool {
	switch t.Kind {
	case Write, Edit, Notebook, Patch, Worktree:
		return true
	case MCP, Unknown:
		return anyWord(t.Name, writingWords[:])
	}
	return false
}

// collect takes from an input what its tool is known to take, and what the names
// of its other members say.
func (r *Request) collect(t *Tool, input value) error {
	r.Dangers = dangersOf(input)
	if t.Here == "" || !input.has(t.Here) || len(input.members) > 1 {
		r.Dangers = append(r.Dangers, t.Dangers...)
	}
	if t.Kind == Schedule {
		r.Dangers = append(r.Dangers, Later)
	}
	if t.Kind == Unknown || t.Kind == MCP {
		return r.unknown(t, input)
	}
	s := scan{r: r, writing: t.writes(), tool: t.Name}
	fields := t.fields()
	for _, m := range input.members {
		if m.is == isNull {
			continue
		}
		if role, known := roleOf(fields, m.key); !known {
			s.named(m)
		} else if err := r.take(role, m, t, input); err != nil {
			return err
		}
	}
	r.settle(t, input)
	return s.err
}

// take puts one member where its role says.
func (r *Request) take(role role, m member, t *Tool, input value) error {
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
func placeOf(t *Tool, input value) string {
	for _, f := range t.fields() {
		if v, ok := input.get(f.key); ok && f.role == place && v.is == isString {
			return v.text
		}
	}
	return "."
}

// settle adds what a call means without saying it.
func (r *Request) settle(t *Tool, input value) {
	if searchesHere(t, input) {
		r.Paths = append(r.Paths, Path{".", false})
	}
	if verb, _ := input.string("command"); t.ReadsOn != "" && verb == t.ReadsOn {
		r.Kind = Read
		for i := range r.Paths {
			r.Paths[i].Write = false
		}
	}
	if len(r.Commands) == 1 && r.Commands[0] == "" && slices.Contains(t.Dangers, Typed) {
		r.Kind, r.Commands, r.Dangers = Note, nil, nil // nothing is typed: it only waits for what is printed
	}
	r.Paths = append(r.Paths, t.Touches...)
}

// searchesHere reports whether a tool that searches a place was told none.
func searchesHere(t *Tool, input value) bool {
	searches := false
	for _, f := range t.fields() {
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
