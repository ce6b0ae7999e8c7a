package suggest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/policy"
)

// Edit makes the changes in the text of a policy file, with the reason behind each new
// line. Everything else in the file stays as it is. The result is a valid policy, or an
// error.
func Edit(text []byte, lines []Line) ([]byte, error) {
	if len(strings.TrimSpace(string(text))) == 0 {
		text = []byte("version: 1\n")
	}
	for _, key := range []string{roots, reads, scratch, domains, ports} {
		of := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Key != key })
		if len(of) == 0 {
			continue
		}
		var err error
		if text, err = editList(text, key, withDefault(text, key, of)); err != nil {
			return nil, err
		}
	}
	if _, err := policy.Parse("cordon.yaml", text); err != nil {
		return nil, err
	}
	return text, nil
}

// withDefault adds the default of read_roots where the file has none: a list replaces it.
func withDefault(text []byte, key string, lines []Line) []Line {
	if key != reads {
		return lines
	}
	var have struct {
		Filesystem map[string]any
	}
	if yaml.Unmarshal(text, &have) != nil {
		return lines // which the next step reports
	}
	if _, ok := have.Filesystem["read_roots"]; ok {
		return lines
	}
	return append([]Line{{Key: reads, Value: "/", Reason: "the default, which a list replaces"}}, lines...)
}

// editList changes one list of a section.
func editList(text []byte, key string, lines []Line) ([]byte, error) {
	section, name, _ := strings.Cut(key, ".")
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	rows := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the policy is not a list of keys")
	}
	sectionKey, in := find(doc.Content[0], section)
	switch {
	case in == nil:
		rows = append(rows, section+":", "  "+name+":")
		rows = append(rows, added("    ", lines)...)
	case in.Kind == yaml.MappingNode && in.Style&yaml.FlowStyle != 0:
		unfolded, err := unfold(rows, sectionKey, in)
		if err != nil {
			return nil, err
		}
		return editList(unfolded, key, lines)
	case in.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("line %d: cordon cannot add to %s in this form: write its keys below it", sectionKey.Line, section)
	default:
		listKey, list := find(in, name)
		var err error
		if rows, err = editRows(rows, sectionKey, listKey, list, name, lines); err != nil {
			return nil, err
		}
	}
	return []byte(strings.Join(rows, "\n") + "\n"), nil
}

// unfold writes the keys of a section below it that were in braces behind it.
func unfold(rows []string, section, in *yaml.Node) ([]byte, error) {
	last := lastLine(in)
	for last < len(rows) && !strings.Contains(rows[last-1], "}") {
		last++
	}
	in.Style &^= yaml.FlowStyle
	section.HeadComment, section.FootComment = "", "" // they stay in their own rows
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{section, in}})
	block := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	rows = slices.Replace(slices.Clone(rows), section.Line-1, last, block...)
	return []byte(strings.Join(rows, "\n") + "\n"), err
}

// lastLine is the last line on which something of a node begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, inner := range n.Content {
		last = max(last, lastLine(inner))
	}
	return last
}

func editRows(rows []string, section, key, list *yaml.Node, name string, lines []Line) ([]string, error) {
	switch {
	case list == nil:
		return slices.Insert(rows, section.Line, append([]string{"  " + name + ":"}, added("    ", lines)...)...), nil
	case list.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("line %d: %s is not a list", key.Line, name)
	}
	indent := strings.Repeat(" ", key.Column-1)
	if list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
		last := list.Line
		for _, item := range list.Content {
			last = max(last, item.Line)
		}
		for last < len(rows) && !strings.Contains(rows[last-1], "]") {
			last++
		}
		block := []string{indent + name + ":"}
		for _, item := range list.Content {
			if !removed(item.Value, lines) {
				block = append(block, indent+"  - "+written(item))
			}
		}
		return slices.Replace(rows, key.Line-1, last, append(block, added(indent+"  ", lines)...)...), nil
	}
	inner := strings.Repeat(" ", list.Column-1)
	at := list.Content[len(list.Content)-1].Line
	rows = slices.Insert(rows, at, added(inner, lines)...)
	for _, item := range slices.Backward(list.Content) {
		if removed(item.Value, lines) {
			rows = slices.Delete(rows, item.Line-1, item.Line)
		}
	}
	return rows, nil
}

func find(in *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(in.Content); i += 2 {
		if in.Content[i].Value == name {
			return in.Content[i], in.Content[i+1]
		}
	}
	return nil, nil
}

func removed(value string, lines []Line) bool {
	return slices.ContainsFunc(lines, func(l Line) bool { return l.Remove && l.Value == value })
}

// added are new entries as a list has them.
func added(indent string, lines []Line) []string {
	var rows []string
	for _, l := range lines {
		if l.Remove {
			continue
		}
		value := strconv.Quote(l.Value)
		if l.Key == ports {
			value = l.Value
		}
		rows = append(rows, fmt.Sprintf("%s- %s # %s", indent, value, l.Reason))
	}
	return rows
}

func written(item *yaml.Node) string {
	if item.Tag == "!!int" {
		return item.Value
	}
	return strconv.Quote(item.Value)
}
