// Package testschema holds JSON documents against the schemas of docs/schema, for tests.
// It is not part of the product.
//
// It knows the few words that those schemas use and refuses a schema with any other. The
// library for JSON Schema knows all of them, but takes milliseconds to start, and the test
// binary of cmd/cordon is started thousands of times as cordon. A test here compares both.
package testschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Set is published schemas by name.
type Set map[string]*Schema

// Schema is one published schema. It is strict: an object has no field that is not
// documented. A later cordon may print more; this one prints what the schema says.
type Schema struct{ root map[string]any }

// Load reads the schemas of a directory.
func Load(dir string) (Set, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no schemas in %s: %v", dir, err)
	}
	set := Set{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		schema, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		title, _ := schema.root["title"].(string)
		set[title] = schema
	}
	return set, nil
}

// Validate holds a document against the schema that it names.
func (s Set) Validate(text []byte) error {
	doc, err := decode(text)
	if err != nil {
		return err
	}
	object, _ := doc.(map[string]any)
	name, _ := object["schema"].(string)
	if s[name] == nil {
		return fmt.Errorf("the schema %q is not published", name)
	}
	return s[name].check("", s[name].root, doc)
}

// Parse reads a schema. A word that this package does not know is an error.
func Parse(text []byte) (*Schema, error) {
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is not an object")
	}
	return &Schema{root}, known(root, root)
}

// Validate holds a document against the schema.
func (s *Schema) Validate(text []byte) error {
	doc, err := decode(text)
	if err != nil {
		return err
	}
	return s.check("", s.root, doc)
}

func decode(text []byte) (doc any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the document")
	}
	return doc, nil
}

// annotations are the words that describe and demand nothing.
var annotations = []string{"$schema", "title", "description", "contentEncoding"}

// known refuses a schema that demands something that check does not look at.
func known(root, schema map[string]any) error {
	for word, value := range schema {
		var err error
		switch word {
		case "const", "required":
		case "type":
			err = knownType(value)
		case "format":
			if value != "date-time" {
				err = fmt.Errorf("the format %v is unknown", value)
			}
		case "$ref":
			_, err = resolve(root, value)
		case "properties", "$defs":
			err = knownIn(root, value)
		case "items", "additionalProperties":
			err = knownSchema(root, value)
		case "anyOf":
			err = knownAny(root, value)
		default:
			if !slices.Contains(annotations, word) {
				err = fmt.Errorf("the word %q is unknown", word)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func knownType(value any) error {
	if name, _ := value.(string); types[name] == nil {
		return fmt.Errorf("the type %v is unknown", value)
	}
	return nil
}

func knownSchema(root map[string]any, value any) error {
	schema, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is not a schema", value)
	}
	return known(root, schema)
}

func knownIn(root map[string]any, value any) error {
	named, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%v does not name schemas", value)
	}
	for _, schema := range named {
		if err := knownSchema(root, schema); err != nil {
			return err
		}
	}
	return nil
}

func knownAny(root map[string]any, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("%v is not a list of schemas", value)
	}
	for _, schema := range list {
		if err := knownSchema(root, schema); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds what a reference names: #/$defs/NAME, or # itself.
func resolve(root map[string]any, ref any) (map[string]any, error) {
	text, _ := ref.(string)
	if text == "#" {
		return root, nil
	}
	name, ok := strings.CutPrefix(text, "#/$defs/")
	defs, _ := root["$defs"].(map[string]any)
	schema, found := defs[name].(map[string]any)
	if !ok || !found {
		return nil, fmt.Errorf("%v refers to nothing", ref)
	}
	return schema, nil
}

// types tell whether a value has a type.
var types = map[string]func(any) bool{
	"null":    func(v any) bool { return v == nil },
	"boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"string":  func(v any) bool { _, ok := v.(string); return ok },
	"number":  func(v any) bool { _, ok := v.(json.Number); return ok },
	"integer": isInteger,
	"array":   func(v any) bool { _, ok := v.([]any); return ok },
	"object":  func(v any) bool { _, ok := v.(map[string]any); return ok },
}

func isInteger(v any) bool {
	n, ok := v.(json.Number)
	return ok && !strings.ContainsAny(n.String(), ".eE")
}

// check holds one value against one schema. at is the path of the value.
func (s *Schema) check(at string, schema map[string]any, v any) error {
	if ref, ok := schema["$ref"]; ok {
		named, err := resolve(s.root, ref)
		if err == nil {
			err = s.check(at, named, v)
		}
		if err != nil {
			return err
		}
	}
	if name, ok := schema["type"].(string); ok && !types[name](v) {
		return fmt.Errorf("%s: %v is not of the type %s", at, v, name)
	}
	if want, ok := schema["const"]; ok && want != v {
		return fmt.Errorf("%s: %v is not %v", at, v, want)
	}
	if text, ok := v.(string); ok && schema["format"] == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	if list, ok := schema["anyOf"].([]any); ok {
		if err := s.checkAny(at, list, v); err != nil {
			return err
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.checkObject(at, schema, v)
	case []any:
		return s.checkArray(at, schema, v)
	}
	return nil
}

func (s *Schema) checkAny(at string, list []any, v any) error {
	var all []error
	for _, one := range list {
		err := s.check(at, one.(map[string]any), v)
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

func (s *Schema) checkObject(at string, schema, object map[string]any) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			return fmt.Errorf("%s: %q is missing", at, name)
		}
	}
	properties, listed := schema["properties"].(map[string]any)
	others, open := schema["additionalProperties"].(map[string]any)
	for name, v := range object {
		inner, ok := properties[name].(map[string]any)
		switch {
		case !ok && open:
			inner = others
		case !ok && listed && schema["type"] == "object":
			return fmt.Errorf("%s: %q is not documented", at, name)
		case !ok:
			continue
		}
		if err := s.check(at+"/"+name, inner, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkArray(at string, schema map[string]any, list []any) error {
	items, ok := schema["items"].(map[string]any)
	if !ok {
		return nil
	}
	for i, v := range list {
		if err := s.check(fmt.Sprintf("%s/%d", at, i), items, v); err != nil {
			return err
		}
	}
	return nil
}
