package clean

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// member is one that stays.
type member struct {
	key   string
	value any // string, bool, number, []string or map[string]bool
}

// members reads front matter, and returns what stays of it and what does not.
func members(front []byte, rule Rule) (kept []member, removed []string) {
	found, why := parse(front)
	if why != "" {
		removed = append(removed, why)
	}
	for _, m := range found {
		v, lost := rule.admit(m)
		if lost != "" {
			removed = append(removed, lost)
		}
		twice := slices.ContainsFunc(kept, func(k member) bool { return k.key == m.key })
		if twice {
			removed = append(removed, "a second "+shown(m.key))
		}
		if v != nil && !twice {
			kept = append(kept, member{m.key, v})
		}
	}
	return kept, removed
}

// admit is the part of a value that stays, or nil; and what does not.
func (r Rule) admit(m member) (v any, lost string) {
	switch only, limited := r.Only[m.key]; {
	case limited:
		if s, ok := m.value.(string); ok && slices.Contains(only, s) {
			return s, ""
		}
		return nil, shown(m.key)
	case slices.Contains(r.Tools, m.key):
		return tools(m)
	case !slices.Contains(r.Plain, m.key) && m.key == "name":
		return nil, "" // the file has one
	case !slices.Contains(r.Plain, m.key):
		return nil, shown(m.key)
	}
	switch m.value.(type) {
	case string, bool, json.Number, []string:
		return m.value, ""
	}
	return nil, shown(m.key)
}

// toolName is the name of a tool, of a server's tools, or all of them. What is in
// parentheses would be a permission.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z*][A-Za-z0-9_.*/-]*$`) })

// tools are the plain names of a list, and what a table switches off.
func tools(m member) (v any, lost string) {
	var names []string
	switch value := m.value.(type) {
	case map[string]bool:
		off := map[string]bool{}
		for name, on := range value {
			if !on && toolName().MatchString(name) {
				off[name] = false
			}
		}
		if len(off) < len(value) {
			lost = shown(m.key)
		}
		if len(off) == 0 {
			return nil, lost
		}
		return off, lost
	case string:
		names = strings.Split(value, ",")
	case []string:
		names = value
	default:
		return nil, shown(m.key)
	}
	var kept []string
	for _, name := range names {
		if name = strings.TrimSpace(name); toolName().MatchString(name) {
			kept = append(kept, name)
		} else if name != "" {
			lost = shown(m.key)
		}
	}
	if len(kept) == 0 {
		return nil, lost
	}
	if _, isText := m.value.(string); isText {
		return strings.Join(kept, ", "), lost
	}
	return kept, lost
}

// parse reads front matter as YAML, if it is plain YAML, and otherwise line by line: many
// files hold text that no reader of YAML accepts, and the clients read those too.
func parse(front []byte) ([]member, string) {
	if len(strings.TrimSpace(string(front))) == 0 {
		return nil, ""
	}
	if list, ok := parseYAML(front); ok {
		return list, ""
	}
	return parseLines(front)
}

func parseYAML(front []byte) (list []member, ok bool) {
	rows, ok := rowsOf(front)
	if !ok {
		return nil, false
	}
	for i := 0; i+1 < len(rows); i += 2 {
		if rows[i].Kind != yaml.ScalarNode {
			return nil, false
		}
		list = append(list, member{rows[i].Value, value(rows[i+1])})
	}
	return list, true
}

// rowsOf are the keys and values of plain YAML.
func rowsOf(front []byte) (rows []*yaml.Node, ok bool) {
	defer func() {
		if recover() != nil { // the library's, at texts that it does not expect
			rows, ok = nil, false
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(string(front)))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil || dec.Decode(&more) != io.EOF {
		return nil, false
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || !plain(&doc, 0) {
		return nil, false
	}
	return doc.Content[0].Content, true
}

// plain reports whether a document has no anchor, alias, tag or merge in it.
func plain(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Tag == "!!merge" || depth > 16 {
		return false
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !plain(c, depth+1) })
}

// value is what a node holds; nil if it is nothing that can stay.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.ScalarNode:
		return scalar(n)
	case yaml.SequenceNode:
		list := []string{}
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil
			}
			list = append(list, item.Value)
		}
		return list
	case yaml.MappingNode:
		table := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			on, ok := scalar(n.Content[i+1]).(bool)
			if n.Content[i].Kind != yaml.ScalarNode || !ok {
				return nil
			}
			table[n.Content[i].Value] = on
		}
		return table
	}
	return nil
}

func scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	case "!!null":
		return ""
	}
	return n.Value
}

var lineMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$`) })

// parseLines reads members of one line each. Their values are text.
func parseLines(front []byte) (list []member, why string) {
	for line := range strings.Lines(string(front)) {
		line = strings.TrimRight(line, " \t\n")
		if m := lineMember().FindStringSubmatch(line); m != nil {
			list = append(list, member{m[1], unquoted(strings.TrimSpace(m[2]))})
		} else if line != "" && !strings.HasPrefix(line, "#") {
			why = "front matter that is not plain YAML"
		}
	}
	return list, why
}

// unquoted is a text without the quotes around it.
func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// shown is a key for a person.
func shown(key string) string {
	const most = 40
	if plainKey().MatchString(key) && len(key) <= most {
		return key
	}
	return fmt.Sprintf("%.*q", most, key)
}

var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// written is front matter with these members. There is always some: a text could begin
// with dashes itself. A member without which a client does not take a file is added.
func written(name string, list []member, rule Rule) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, key := range []string{"name", "description"} {
		there := slices.ContainsFunc(list, func(m member) bool { return m.key == key && m.value != "" })
		if !there && slices.Contains(rule.Plain, key) {
			list = slices.DeleteFunc(slices.Clone(list), func(m member) bool { return m.key == key })
			list = append(list, member{key, name})
		}
	}
	for _, m := range list {
		b.WriteString(m.key + ": " + quoted(m.value) + "\n")
	}
	b.WriteString("---\n")
	return []byte(b.String())
}

var dashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-{3,}`) })

// quoted is a value in JSON, which every reader of YAML reads the same way. Some clients
// look for the dashes of the end in the middle of a line.
func quoted(v any) string {
	switch value := v.(type) {
	case string:
		v = dashes().ReplaceAllString(value, "--")
	case []string:
		list := []string{}
		for _, s := range value {
			list = append(list, dashes().ReplaceAllString(s, "--"))
		}
		v = list
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return `""` // none of the values that stay
	}
	return strings.TrimSuffix(b.String(), "\n")
}
