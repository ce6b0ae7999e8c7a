package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	maxSize  = 1 << 20 // of a policy file, in bytes
	maxDepth = 8       // of nested lists and mappings; a policy needs 4
)

// Parse reads a policy. The name stands in front of every error. On any error
// the returned Policy is the zero one, which allows nothing.
func Parse(name string, data []byte) (Policy, error) {
	p, err := parse(data)
	if err != nil {
		e := unplaced("", err)
		e.Name = name
		return Policy{}, e
	}
	return p, nil
}

func parse(data []byte) (Policy, error) {
	if err := checkText(data); err != nil {
		return Policy{}, err
	}
	root, err := document(data)
	if err != nil {
		return Policy{}, err
	}
	if err := checkPlain(root, 0); err != nil {
		return Policy{}, err
	}
	p := Default()
	if err := readSection(&p, root, "a policy", fieldTable()); err != nil {
		return Policy{}, err
	}
	return p, nil
}

func checkText(data []byte) error {
	if len(data) > maxSize {
		return &Error{Line: 1, Column: 1, Problem: "the policy is larger than 1 MiB"}
	}
	if utf8.Valid(data) {
		return nil
	}
	broken := 0
	for broken < len(data) {
		r, size := utf8.DecodeRune(data[broken:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		broken += size
	}
	line, column := position(data, broken)
	return &Error{Line: line, Column: column, Problem: "the policy is not valid UTF-8", Hint: "save it as UTF-8"}
}

// position is the line and column of an offset.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// document returns the root of the one document that data may hold.
func document(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	first, err := decode(decoder)
	if errors.Is(err, io.EOF) {
		return nil, emptyPolicy()
	}
	if err != nil {
		return nil, syntaxError(data, err)
	}
	second, err := decode(decoder)
	if err == nil {
		return nil, &Error{Line: second.Line, Column: second.Column, Problem: "a second document begins here", Hint: "a policy is one document; remove the --- line"}
	}
	if !errors.Is(err, io.EOF) {
		return nil, syntaxError(data, err)
	}
	root := first.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, emptyPolicy()
	}
	return root, nil
}

// decode returns the next document. A panic of the YAML library on a text we
// did not write is an error like any other.
func decode(decoder *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("yaml: the reader failed: %v", r)
		}
	}()
	n = new(yaml.Node)
	if err := decoder.Decode(n); err != nil {
		return nil, err
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil, errors.New("yaml: not a document")
	}
	return n, nil
}

func emptyPolicy() error {
	return &Error{Line: 1, Column: 1, Problem: "the policy is empty", Hint: "delete the file to use the default policy, or write version: 1"}
}

// parserProblems are what the YAML library's parser, and not its scanner,
// complains about. It counts the lines of these from zero.
var parserProblems = []string{
	"did not find expected <document start>",
	"did not find expected key",
	"did not find expected node content",
	"did not find expected '-' indicator",
	"did not find expected ',' or",
}

// syntaxError places what the YAML library complains about. The library names a
// line at best; the column is that of the line's first character.
func syntaxError(data []byte, err error) error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(problem, "unknown anchor '"); found {
		name, _, _ := strings.Cut(rest, "'")
		return aliasRefused(position(data, max(0, bytes.Index(data, []byte("*"+name)))))
	}
	line := 1
	if rest, found := strings.CutPrefix(problem, "line "); found {
		if number, after, cut := strings.Cut(rest, ": "); cut {
			line, _ = strconv.Atoi(number)
			problem = after
		}
		if slices.ContainsFunc(parserProblems, func(p string) bool { return strings.HasPrefix(problem, p) }) {
			line++
		}
	}
	lines := strings.Split(string(data), "\n")
	line = min(max(line, 1), len(lines))
	column, hint := indent(lines[line-1])+1, ""
	if before, word := unquoted(lines[line-1], problem); word != "" {
		column, hint = utf8.RuneCountInString(before)+1, "quote it: "+quote(word)
	}
	return &Error{Line: line, Column: column, Problem: "not valid YAML: " + problem, Hint: hint}
}

// unquoted finds the entry of a list that YAML wants in quotes, a preset or a host
// with a *, where this is what the library complains about.
func unquoted(line, problem string) (before, word string) {
	sign := ""
	switch problem {
	case "found character that cannot start any token":
		sign = "@"
	case "did not find expected alphabetic or numeric character":
		sign = "*"
	default:
		return "", ""
	}
	for i := range line {
		if strings.HasPrefix(line[i:], sign) && (i == 0 || strings.ContainsRune(" \t[,", rune(line[i-1]))) {
			word, _, _ = strings.Cut(line[i:], "#")
			return line[:i], word[:len(word)-len(strings.TrimLeftFunc(word, isEntry))]
		}
	}
	return "", ""
}

// isEntry reports whether a character can be one of an entry of allowed_domains.
func isEntry(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("[]{},\"'", r) }

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func aliasRefused(line, column int) error {
	return &Error{Line: line, Column: column, Problem: "an alias is not allowed in a policy",
		Hint: "write the value out, so that a policy reads the same to everyone"}
}

// checkPlain refuses what makes a YAML text mean something other than what a
// reader sees: a policy must be readable from top to bottom.
func checkPlain(n *yaml.Node, depth int) error {
	var f fault
	switch {
	case depth > maxDepth:
		f = fault{"nested too deeply", ""}
	case n.Kind == yaml.AliasNode:
		return aliasRefused(n.Line, n.Column)
	case n.Anchor != "":
		f = fault{"an anchor is not allowed in a policy", "write the value out where it is needed"}
	case n.ShortTag() == "!!merge":
		f = fault{"a merge key is not allowed in a policy", "write the keys out where they are needed"}
	case n.Style&yaml.TaggedStyle != 0:
		f = fault{"a tag is not allowed in a policy", "remove " + n.Tag}
	}
	if f.problem != "" {
		return at(n, f)
	}
	for _, child := range n.Content {
		if err := checkPlain(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// readSection reads a mapping against its fields.
func readSection(p *Policy, n *yaml.Node, what string, fields []field) error {
	if n.Kind != yaml.MappingNode {
		return at(n, fault{what + " is a mapping, not " + describe(n), "write its keys, or leave it out"})
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f, err := findField(key, fields)
		if err != nil {
			return at(key, err)
		}
		if line := seen[f.key]; line != 0 {
			return at(key, fault{"the key " + quote(f.key) + " is given twice", "first on line " + strconv.Itoa(line)})
		}
		seen[f.key] = key.Line
		if err := readField(p, value, f); err != nil {
			return err
		}
	}
	return nil
}

func readField(p *Policy, value *yaml.Node, f field) error {
	if f.fields != nil {
		return readSection(p, value, f.key, f.fields)
	}
	return f.read(p, value)
}

func findField(key *yaml.Node, fields []field) (field, error) {
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		return field{}, fault{"expected a key, not " + describe(key), suggest("", fields, nil)}
	}
	for _, f := range fields {
		if f.key == key.Value {
			return f, nil
		}
	}
	return field{}, fault{"unknown key " + quote(key.Value), suggest(key.Value, fields, fieldTable())}
}
