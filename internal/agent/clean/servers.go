package clean

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// suspect is a text that could name servers to a reader who understands more of it than this one.
var suspect = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)mcp|\\[xu]|[&*!]`) })

var errServers = fmt.Errorf("its front matter cannot be understood, and could name MCP servers, which the client would start")

// Servers are the names of the MCP servers in the front matter of an agent that a client reads as it is. It
// fails where another reader could find more of them.
func Servers(text []byte) ([]string, error) {
	plainText, err := decode(text)
	if err != nil {
		return nil, err
	}
	front, _, removed := split(plainText)
	if len(removed) > 0 && suspect().Match(plainText) {
		return nil, errServers
	}
	if len(strings.TrimSpace(string(front))) == 0 {
		return nil, nil
	}
	rows, ok := rowsOf(front)
	if !ok && suspect().Match(front) {
		return nil, errServers
	}
	var names []string
	for i := 0; i+1 < len(rows); i += 2 {
		if !namesServers(rows[i].Value) {
			continue
		}
		found, ok := keysOf(rows[i+1])
		if !ok {
			return nil, errServers
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// namesServers reports whether a member is mcp-servers, in whichever spelling.
func namesServers(key string) bool {
	return strings.EqualFold(strings.NewReplacer("-", "", "_", "", " ", "").Replace(key), "mcpServers")
}

// keysOf are the names in a table, or in a list of names and tables.
func keysOf(n *yaml.Node) (names []string, ok bool) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			names = append(names, n.Content[i].Value)
		}
		return names, true
	case yaml.SequenceNode:
		for _, item := range n.Content {
			more, ok := keysOf(item)
			if !ok {
				return nil, false
			}
			names = append(names, more...)
		}
		return names, true
	}
	if n.Tag == "!!null" {
		return nil, true
	}
	return []string{n.Value}, n.Kind == yaml.ScalarNode
}
