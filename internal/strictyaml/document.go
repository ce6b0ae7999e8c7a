// Package strictyaml reads YAML files that must mean what a reader sees: the policy of a
// repository and the operator's configuration. A table of fields says which keys a file
// may have and what each of them takes.
//
// It is pure: bytes come in, values go out. It refuses to guess: a key that it does not
// know, a value of another type, an alias, a tag, a second document. Each is an *Error
// with a position and the words that would be right, and never a default. What a key
// means is the business of the package that owns the table.
package strictyaml

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
	maxSize  = 1 << 20 // of a file, in bytes
	maxDepth = 8       // of nested lists and mappings; a policy needs 4
)

// Kind is a kind of file: the nouns that messages use, and its keys.
type Kind[T any] struct {
	Noun   string // of such a file, without an article: policy
	Empty  string // what to do about an empty file
	Fields []Field[T]
	Others map[string]string // keys of other files, and where they belong
}

// Given are the keys that a file has, with their sections (land.as), and their lines.
type Given map[string]int

// Parse reads a file into t, which holds the defaults. The name stands in front of every
// error. After an error, t must not be used.
func (k Kind[T]) Parse(name string, data []byte, t *T) (Given, error) {
	given, err := k.parse(data, t)
	if err != nil {
		e := Unplaced("", err)
		e.Name = name
		return nil, e
	}
	return given, nil
}

func (k Kind[T]) parse(data []byte, t *T) (Given, error) {
	if err := checkText(data, k.Noun); err != nil {
		return nil, err
	}
	root, err := document(data, k.Noun, k.Empty)
	if err != nil {
		return nil, err
	}
	if err := checkPlain(root, k.Noun, 0); err != nil {
		return nil, err
	}
	r := reader[T]{kind: k, into: t, given: Given{}}
	if err := r.section(root, "a "+k.Noun, "", k.Fields); err != nil {
		return nil, err
	}
	return r.given, nil
}

func checkText(data []byte, noun string) error {
	if len(data) > maxSize {
		return &Error{Line: 1, Column: 1, Problem: "the " + noun + " is larger than 1 MiB"}
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
	return &Error{Line: line, Column: column, Problem: "the " + noun + " is not valid UTF-8", Hint: "save it as UTF-8"}
}

// position is the line and column of an offset.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// document returns the root of the one document that data may hold.
func document(data []byte, noun, empty string) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	first, err := decode(decoder)
	if errors.Is(err, io.EOF) {
		return nil, &Error{Line: 1, Column: 1, Problem: "the " + noun + " is empty", Hint: empty}
	}
	if err != nil {
		return nil, syntaxError(data, noun, err)
	}
	second, err := decode(decoder)
	if err == nil {
		return nil, &Error{Line: second.Line, Column: second.Column, Problem: "a second document begins here",
			Hint: "a " + noun + " is one document; remove the --- line"}
	}
	if !errors.Is(err, io.EOF) {
		return nil, syntaxError(data, noun, err)
	}
	root := first.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, &Error{Line: 1, Column: 1, Problem: "the " + noun + " is empty", Hint: empty}
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
func syntaxError(data []byte, noun string, err error) error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(problem, "unknown anchor '"); found {
		name, _, _ := strings.Cut(rest, "'")
		line, column := position(data, max(0, bytes.Index(data, []byte("*"+name))))
		return aliasRefused(noun, line, column)
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

func aliasRefused(noun string, line, column int) error {
	return &Error{Line: line, Column: column, Problem: "an alias is not allowed in a " + noun,
		Hint: "write the value out, so that a " + noun + " reads the same to everyone"}
}

// checkPlain refuses what makes a YAML text mean something other than what a
// reader sees: a file must be readable from top to bottom.
func checkPlain(n *yaml.Node, noun string, depth int) error {
	var f fault
	switch {
	case depth > maxDepth:
		f = fault{"nested too deeply", ""}
	case n.Kind == yaml.AliasNode:
		return aliasRefused(noun, n.Line, n.Column)
	case n.Anchor != "":
		f = fault{"an anchor is not allowed in a " + noun, "write the value out where it is needed"}
	case n.ShortTag() == "!!merge":
		f = fault{"a merge key is not allowed in a " + noun, "write the keys out where they are needed"}
	case n.Style&yaml.TaggedStyle != 0:
		f = fault{"a tag is not allowed in a " + noun, "remove " + n.Tag}
	}
	if f.problem != "" {
		return At(n, f)
	}
	for _, child := range n.Content {
		if err := checkPlain(child, noun, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the sections of one file.
type reader[T any] struct {
	kind  Kind[T]
	into  *T
	given Given
}

// section reads a mapping against its fields.
func (r reader[T]) section(n *yaml.Node, what, prefix string, fields []Field[T]) error {
	if n.Kind != yaml.MappingNode {
		return At(n, fault{what + " is a mapping, not " + Describe(n), "write its keys, or leave it out"})
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f, err := r.find(key, fields)
		if err != nil {
			return At(key, err)
		}
		if line := seen[f.Key]; line != 0 {
			return At(key, fault{"the key " + quote(f.Key) + " is given twice", "first on line " + strconv.Itoa(line)})
		}
		seen[f.Key] = key.Line
		if f.Fields != nil {
			err = r.section(value, f.Key, prefix+f.Key+".", f.Fields)
		} else {
			r.given[prefix+f.Key] = key.Line
			err = f.Read(r.into, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r reader[T]) find(key *yaml.Node, fields []Field[T]) (Field[T], error) {
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		return Field[T]{}, fault{"expected a key, not " + Describe(key), suggest("", fields, nil)}
	}
	for _, f := range fields {
		if f.Key == key.Value {
			return f, nil
		}
	}
	hint := suggest(key.Value, fields, r.kind.Fields)
	if other, known := r.kind.Others[key.Value]; known && !strings.HasPrefix(hint, "did you mean") {
		hint = other
	}
	return Field[T]{}, fault{"unknown key " + quote(key.Value), hint}
}

// ReadMapping reads a mapping inside a file into t, against a table of its own. Messages
// call it what.
func ReadMapping[T any](n *yaml.Node, what string, t *T, fields []Field[T]) (Given, error) {
	r := reader[T]{kind: Kind[T]{Fields: fields}, into: t, given: Given{}}
	err := r.section(n, what, "", fields)
	return r.given, err
}
