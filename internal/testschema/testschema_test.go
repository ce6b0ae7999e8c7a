package testschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const published = "../../docs/schema"

// forbidMore makes every object that has properties refuse others, unless it says what
// they are.
func forbidMore(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		_, open := doc["additionalProperties"]
		if _, ok := doc["properties"].(map[string]any); ok && doc["type"] == "object" && !open {
			doc["additionalProperties"] = false
		}
		for _, inner := range doc {
			forbidMore(inner)
		}
	case []any:
		for _, inner := range doc {
			forbidMore(inner)
		}
	}
}

// byLibrary compiles a schema with the library, as strict as it is here.
func byLibrary(t *testing.T, text []byte) func([]byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	forbidMore(doc)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
}

// example makes a document that a schema allows. An array has one element, and deep
// inside of itself none.
func (s *Schema) example(schema map[string]any, depth int) any {
	if ref, ok := schema["$ref"]; ok {
		named, _ := resolve(s.root, ref)
		return s.example(named, depth+1)
	}
	if want, ok := schema["const"]; ok {
		return want
	}
	if list, ok := schema["anyOf"].([]any); ok {
		if depth > 6 {
			return s.example(list[len(list)-1].(map[string]any), depth+1)
		}
		return s.example(list[0].(map[string]any), depth+1)
	}
	switch schema["type"] {
	case "object":
		object := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, inner := range properties {
			object[name] = s.example(inner.(map[string]any), depth+1)
		}
		if others, ok := schema["additionalProperties"].(map[string]any); ok {
			object["any name"] = s.example(others, depth+1)
		}
		return object
	case "array":
		items, ok := schema["items"].(map[string]any)
		if !ok || depth > 12 {
			return []any{}
		}
		return []any{s.example(items, depth+1)}
	case "string":
		if schema["format"] == "date-time" {
			return "2024-05-06T07:08:09Z"
		}
		return "text"
	case "integer":
		return json.Number("7")
	case "number":
		return json.Number("7.5")
	case "boolean":
		return true
	}
	return nil
}

// mutations calls try with a document after each change of one value of it.
func mutations(doc any, try func(what string)) {
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		for _, other := range []any{nil, true, "words", json.Number("3"), json.Number("3.5"), []any{}, map[string]any{}} {
			set(other)
			try(fmt.Sprintf("%s = %v", at, other))
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			v["undocumented"] = "x"
			try(at + " with another field")
			delete(v, "undocumented")
			for name, inner := range v {
				delete(v, name)
				try(at + " without " + name)
				v[name] = inner
				walk(at+"/"+name, inner, func(to any) { v[name] = to })
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s/%d", at, i), inner, func(to any) { v[i] = to })
			}
		}
	}
	object := doc.(map[string]any)
	for name, inner := range object {
		delete(object, name)
		try("without " + name)
		object[name] = inner
		walk("/"+name, inner, func(to any) { object[name] = to })
	}
}

// An example of every published schema, and each change of one value of it, get the same
// answer here and from the library.
func TestAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(published, "*.json"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	allowed, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		library := byLibrary(t, text)
		doc := own.example(own.root, 0)
		compare := func(what string) {
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			mine, theirs := own.Validate(text), library(text)
			if (mine == nil) != (theirs == nil) {
				t.Errorf("%s: %s: here %v, by the library %v", filepath.Base(file), what, mine, theirs)
			}
			if mine == nil {
				allowed++
			} else {
				refused++
			}
		}
		before := allowed
		if compare("the example"); allowed == before {
			t.Errorf("%s: the example is refused", file)
		}
		mutations(doc, compare)
	}
	if allowed < 100 || refused < 1000 {
		t.Errorf("%d documents are allowed and %d refused: too few to show anything", allowed, refused)
	}
}

// A schema with a word that is not looked at is refused.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type": "string", "pattern": "x"}`, `{"type": "strings"}`, `{"type": ["string", "null"]}`, `{"format": "uri"}`, `{"$ref": "#/$defs/x"}`,
		`{"properties": {"a": {"minimum": 1}}}`, `{"items": true}`, `{"anyOf": []}`, `{"additionalProperties": false}`, `[]`, `{} {}`,
	} {
		if _, err := Parse([]byte(schema)); err == nil {
			t.Errorf("%s is accepted", schema)
		}
	}
}

// The control: an object that lacks a field, has another type or says more is refused.
func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	set, err := Load(published)
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"schema": "cordon.discard/1", "worker": "brisk-otter", "status": "discarded"}`
	if err := set.Validate([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"brisk-otter"`, `7`, 1), strings.Replace(good, `, "status": "discarded"`, ``, 1),
		strings.Replace(good, `{`, `{"more": 1, `, 1), strings.Replace(good, `discard/1`, `discard/2`, 1), `[]`, `null`,
		`{"schema": "cordon.checkout/1", "worker": "brisk-otter", "checkout": {"more": 1}}`,
		`{"schema": "cordon.repair/1", "kept": 1, "problem": "", "workers": [{"worker": "x", "what": "y"}], "done": true}`,
	} {
		if err := set.Validate([]byte(bad)); err == nil {
			t.Errorf("%s is valid", bad)
		}
	}
}
