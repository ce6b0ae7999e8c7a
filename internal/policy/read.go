package policy

import (
	"slices"
	"strconv"
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

func readText(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", fault{"expected text, not " + describe(n), ""}
	}
	if n.ShortTag() != "!!str" {
		return "", fault{"expected text, not " + describe(n), "quote it: " + quote(n.Value)}
	}
	if plain(n) && slices.Contains(wordBooleans, strings.ToLower(n.Value)) {
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

func readList(n *yaml.Node, check func(string) (string, error)) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fault{"expected a list, not " + describe(n), listHint(n)}
	}
	entries := []string{}
	for _, item := range n.Content {
		s, err := readText(item)
		if err == nil {
			s, err = check(s)
		}
		if err != nil {
			return nil, at(item, err)
		}
		entries = append(entries, s)
	}
	return entries, nil
}

func listHint(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return "write [] for nothing, or leave the key out for its default"
	case n.Kind == yaml.ScalarNode:
		return "write [" + quote(n.Value) + "]"
	}
	return "write one entry per line, each after a dash"
}

func readBool(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.ScalarNode && plain(n) && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true", nil
	}
	return false, fault{"expected true or false, not " + describe(n), ""}
}

func readVersion(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && plain(n) && n.Value == strconv.Itoa(Version) {
		return Version, nil
	}
	return 0, fault{"expected version 1, not " + describe(n), "write version: 1"}
}

// maxCount keeps a number of processes or files within what a kernel can count.
const maxCount = 1_000_000

func readCount(things string) func(*yaml.Node) (int, error) {
	return func(n *yaml.Node) (int, error) {
		if n.Kind == yaml.ScalarNode && n.Value == noLimit && n.ShortTag() == "!!str" {
			return 0, nil
		}
		if n.Kind == yaml.ScalarNode && plain(n) && isNumber(n.Value) {
			if v, err := strconv.Atoi(n.Value); err == nil && v <= maxCount {
				return v, nil
			}
		}
		return 0, fault{"expected a number of " + things + ", not " + describe(n), "write a whole number from 1 to 1000000, or none"}
	}
}

func readDuration(n *yaml.Node) (Duration, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return 0, fault{"expected a duration, not " + describe(n), "write one whole number and one unit, such as 90s, 30m, 4h or 7d"}
	}
	return ParseDuration(n.Value)
}

func readBytes(n *yaml.Node) (Bytes, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return 0, fault{"expected a size, not " + describe(n), "write one whole number and one unit, such as 512MiB or 2GB, or none"}
	}
	return ParseBytes(n.Value)
}

// readSize reads a size that may depend on the machine.
func readSize(n *yaml.Node) (Bytes, error) {
	if n.Kind == yaml.ScalarNode && n.Value == auto {
		return Auto, nil
	}
	return readBytes(n)
}

func readIsolation(n *yaml.Node) (Isolation, error) {
	var i Isolation
	if n.Kind != yaml.ScalarNode || i.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected an isolation, not " + describe(n), "write strict, degraded or none"}
	}
	return i, nil
}

func readOutside(n *yaml.Node) (Outside, error) {
	var o Outside
	if n.Kind != yaml.ScalarNode || o.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected deny or capture, not " + describe(n), ""}
	}
	return o, nil
}

func readNames(n *yaml.Node) (Names, error) {
	var names Names
	if n.Kind != yaml.ScalarNode || names.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected portable or any, not " + describe(n), ""}
	}
	return names, nil
}

func readGuardMode(n *yaml.Node) (GuardMode, error) {
	var m GuardMode
	if n.Kind != yaml.ScalarNode || m.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected a mode of the guard, not " + describe(n), "write enforce, warn or strict"}
	}
	return m, nil
}

func readAnswer(n *yaml.Node) (Answer, error) {
	var a Answer
	if n.Kind != yaml.ScalarNode || a.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected allow, ask or deny, not " + describe(n), ""}
	}
	return a, nil
}

func readLogin(n *yaml.Node) (Login, error) {
	var l Login
	if n.Kind != yaml.ScalarNode || l.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected a login, not " + describe(n), "write none, read or copy"}
	}
	return l, nil
}

func readProof(n *yaml.Node) (Proof, error) {
	var p Proof
	if n.Kind != yaml.ScalarNode || p.UnmarshalText([]byte(n.Value)) != nil {
		return "", fault{"expected required or reported, not " + describe(n), ""}
	}
	return p, nil
}

// plain reports whether a scalar was written without quotes or a block marker.
func plain(n *yaml.Node) bool { return n.Style == 0 }

// describe says what a node is, in the words of someone who wrote it.
func describe(n *yaml.Node) string {
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
