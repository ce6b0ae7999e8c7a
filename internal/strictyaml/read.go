package strictyaml

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The readers below take one YAML node to one value. They look at the node's
// own tag and style, because a decoder that converts would let 1.10 become 1.1
// and yes become true on its way to a string.

// wordBooleans are strings to YAML 1.2 and booleans to YAML 1.1: whoever wrote
// one without quotes may have meant either.
var wordBooleans = []string{"y", "n", "yes", "no", "on", "off"}

// ReadText reads one string.
func ReadText(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", fault{"expected text, not " + Describe(n), ""}
	}
	if n.ShortTag() != "!!str" {
		return "", fault{"expected text, not " + Describe(n), "quote it: " + quote(n.Value)}
	}
	if Plain(n) && slices.Contains(wordBooleans, strings.ToLower(n.Value)) {
		return "", fault{"expected text; " + n.Value + " without quotes is a boolean to many YAML readers", "quote it: " + quote(n.Value)}
	}
	if !utf8.ValidString(n.Value) {
		return "", fault{"the text is not valid UTF-8", ""}
	}
	if strings.ContainsRune(n.Value, 0) {
		return "", fault{"the text contains a NUL character", ""}
	}
	return n.Value, nil
}

// ReadList reads a list of strings, each of which a check accepts and normalises.
func ReadList(n *yaml.Node, check func(string) (string, error)) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fault{"expected a list, not " + Describe(n), ListHint(n)}
	}
	entries := []string{}
	for _, item := range n.Content {
		s, err := ReadText(item)
		if err == nil {
			s, err = check(s)
		}
		if err != nil {
			return nil, At(item, err)
		}
		entries = append(entries, s)
	}
	return entries, nil
}

// ListHint says how a list would be written.
func ListHint(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return "write [] for nothing, or leave the key out for its default"
	case n.Kind == yaml.ScalarNode:
		return "write [" + quote(n.Value) + "]"
	}
	return "write one entry per line, each after a dash"
}

// ReadBool reads true or false.
func ReadBool(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.ScalarNode && Plain(n) && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true", nil
	}
	return false, fault{"expected true or false, not " + Describe(n), ""}
}

// Plain reports whether a scalar was written without quotes or a block marker.
func Plain(n *yaml.Node) bool { return n.Style == 0 }

// Describe says what a node is, in the words of someone who wrote it.
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the boolean " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "the text " + quote(n.Value)
}
