package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// inexpressible are the mistakes that a JSON Schema cannot see, each with why.
// Every other mistake must be refused by the schema too.
var inexpressible = map[string]string{
	"command with other paths":     "entries are compared with each other",
	"invalid UTF-8":                "JSON text is Unicode",
	"second document":              "JSON has one value",
	"too large":                    "the size of the text is not in the value",
	"syntax: indentation":          "never becomes a value",
	"syntax: quote":                "never becomes a value",
	"syntax: colon":                "never becomes a value",
	"syntax: escape":               "never becomes a value",
	"anchor":                       "resolved before there is a value",
	"alias to nothing":             "never becomes a value",
	"merge key":                    "resolved before there is a value",
	"tag":                          "resolved before there is a value",
	"duplicate key":                "a value has each key once",
	"duplicate key in section":     "a value has each key once",
	"guard key twice":              "a value has each key once",
	"key that is a list":           "JSON keys are text",
	"key that is a number":         "JSON keys are text",
	"entry is an old boolean":      "quotes are not in the value",
	"version 1.0":                  "1.0 is 1 in JSON",
	"processes in hex":             "0x10 is 16 in the value",
	"entry is a date":              "the YAML library gives a date as text",
	"glob not closed":              "globs are not a regular language",
	"group across a slash":         "globs are not a regular language",
	"group with dots":              "globs are not a regular language",
	"too many groups":              "left to the parser",
	"range across alphabets":       "left to the parser",
	"brace in a class":             "globs are not a regular language",
	"host_ports in hex":            "0x10 is 16 in the value",
	"publish and host_ports":       "no schema compares two lists",
	"publish and a server":         "no schema compares two lists",
	"a path with a no-break space": "\\s means another set of characters to each regular expression engine",
}

// moreMistakes have no interesting text but test an edge of the schema.
var moreMistakes = []struct{ name, text string }{
	{"a path with a no-break space", "filesystem: {deny_read: [\"a\u00a0\"]}"},
	{"up after home", "filesystem: {deny_read: [~/../x]}"},
	{"up after the root", "filesystem: {deny_read: [/../x]}"},
	{"up after a name", "filesystem: {deny_write: [./a/./../x]}"},
	{"up after up and a name", "filesystem: {deny_write: [../a/..]}"},
	{"up after a dotted name", "filesystem: {deny_write: [.a/..]}"},
	{"up after three dots", "filesystem: {deny_write: [.../..]}"},
	{"root is home", "filesystem: {write_roots: ['~']}"},
	{"triple star", "filesystem: {scratch: ['***']}"},
	{"git after a dot", "filesystem: {write_roots: [./.git]}"},
	{"git below", "filesystem: {write_roots: [a/b/.Git/]}"},
	{"branch dash", "git: {branch: '-{id}'}"},
	{"branch twice", "git: {branch: '{id}{id}'}"},
	{"branch slash", "git: {branch: '{id}/'}"},
	{"branch dots", "git: {branch: 'a..{id}'}"},
	{"branch hidden", "git: {branch: 'a/.b/{id}'}"},
	{"branch ends in a dot", "git: {branch: '{id}.'}"},
	{"identity with a line break", "git: {identity: {name: \"a\\nb\"}}"},
	{"unknown key in identity", "git: {identity: {nam: a}}"},
	{"comment after a blank", "setup: ['  # x']"},
}

// goodTexts are valid, each at an edge of what is.
var goodTexts = []string{
	full,
	"{}",
	"version: 1",
	"filesystem: {write_roots: [], read_roots: [], deny_read: [], deny_write: [], scratch: []}",
	"filesystem: {write_roots: ['.', './', 'a/', '**', '**/.envrc', 'a/**/b', '*.go', '[a-z]x', '{a,b}c', '.github', 'git', '.gitignore', /abs, /x/.git/wt]}",
	"filesystem: {deny_write: ['..', '../..', '../../**', './../x', '~', '~/.ssh/**', /etc, a/.git, '...', '..a/b', 'a..', '[~]x', '[ ]a']}",
	"filesystem: {scratch: ['~/.git', /tmp/**, target]}",
	"filesystem: {deny_read: [\"a\\nb\", 'a b', 'ünï']}",
	"network: {allowed_domains: []}",
	"network: {host_ports: [1, 5432, 65535], via: transparent, observe: false, limits: {connections: 65536, queries: 10000, bytes: none}}",
	"network: {publish: [1024, 3000, 65535], host_ports: [80], allowed_domains: ['a.example:8443']}",
	"network: {host_ports: [], via: proxy, observe: true, limits: {connections: 1, queries: 1, bytes: 1B}}",
	"secrets: [A, _b, a1, 'NO', \"yes\", GITHUB_TOKEN, MY_GIT_DIR, LD_PRELOADED, LD_LIBRARY_PATH, git_dir]",
	"git: {branch: 'a/{id}-x', pin: false, identity: {name: a, email: a@b}}",
	"limits: {time: 1s, memory: none, processes: 1, disk: 1B}",
	"limits: {time: 99999d, memory: 999999TiB, processes: 1000000, disk: 999999999999999B}",
	"limits: {processes: none, files: none}",
	"limits: {files: 1}", "limits: {files: 1000000}",
	"filesystem: {outside: deny}", "filesystem: {outside: capture}", "filesystem: {outside: 'capture'}",
	"filesystem: {deny_read: ['@default']}",
	"filesystem: {deny_read: [mine, '@default', ~/.ssh, '@default'], read_roots: [/, ~/.npmrc]}",
	"filesystem: {deny_read: ['[@]default', a/@default, ../@default, ~/@default, /@default], deny_write: ['@default']}",
	"isolation: none", "isolation: degraded", "isolation: strict",
	"guard: {}", "guard: {mode: enforce}", "guard: {mode: warn}", "guard: {mode: 'strict'}",
	"agent: {login: none}", "agent: {login: read, refresh: false, proof: reported}", "agent: {login: copy, refresh: true, proof: required}",
	"guard: {unknown_read: allow, opaque_code: deny}", "guard: {unknown_read: ask, opaque_code: ask}", "guard: {unknown_read: deny, opaque_code: allow}",
	"setup: [\"# a\\n  x\", ':', 'true', 'a # b', \"\\n\\n x\"]",
	"preserve_on_failure: false\nexpires: 1d",
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value turns YAML into the JSON value a schema-aware editor would see.
func value(text string) (any, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

func TestSchemaAgreesOnGood(t *testing.T) {
	s := compiledSchema(t)
	for _, text := range goodTexts {
		if p, err := Parse("good", []byte(text)); err != nil {
			t.Errorf("parser: %v\n%s", err, text)
		} else {
			roundTrip(t, p)
		}
		v, err := value(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("schema: %v\n%s", err, text)
		}
	}
}

func TestSchemaAgreesOnMistakes(t *testing.T) {
	s := compiledSchema(t)
	all := slices.Clone(moreMistakes)
	for _, m := range slices.Concat(mistakes, networkMistakes) {
		all = append(all, struct{ name, text string }{m.name, m.text})
	}
	unused := maps.Clone(inexpressible)
	for _, m := range all {
		if _, err := Parse("bad", []byte(m.text)); err == nil {
			t.Errorf("%s: the parser accepts it\n%s", m.name, m.text)
		}
		v, err := value(m.text)
		accepted := err == nil && s.Validate(v) == nil
		if _, known := inexpressible[m.name]; known {
			delete(unused, m.name)
			if err == nil && !accepted && m.name != "invalid UTF-8" {
				t.Errorf("%s: listed as inexpressible, but the schema refuses it", m.name)
			}
		} else if accepted {
			t.Errorf("%s: the schema accepts what the parser refuses\n%s", m.name, m.text)
		}
	}
	for name := range unused {
		t.Errorf("%s: listed as inexpressible, but no mistake has that name", name)
	}
}

// TestSchemaMatchesFields walks the table of fields and the schema together:
// same keys, same words, and the defaults, read as a policy, are Default.
func TestSchemaMatchesFields(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	defaults := compareSection(t, "", root, fieldTable())
	text, err := yaml.Marshal(defaults)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Parse("the schema's defaults", text); err != nil || !p.Equal(Default()) {
		t.Errorf("the schema's defaults are not the policy's: %v\n%s", err, text)
	}
}

// compareSection returns the defaults that the schema gives.
func compareSection(t *testing.T, at string, section map[string]any, fields []field) map[string]any {
	t.Helper()
	defaults := map[string]any{}
	properties := section["properties"].(map[string]any)
	if len(properties) != len(fields) {
		t.Errorf("%s: the schema has %d keys, the table %d", at, len(properties), len(fields))
	}
	if section["additionalProperties"] != false {
		t.Errorf("%s: the schema allows unknown keys", at)
	}
	for _, f := range fields {
		name := at + "/" + f.Key
		property, ok := properties[f.Key].(map[string]any)
		if !ok {
			t.Errorf("%s: not in the schema", name)
			continue
		}
		if property["description"] != f.Doc {
			t.Errorf("%s: described as %q, want %q", name, property["description"], f.Doc)
		}
		if f.Fields != nil {
			defaults[f.Key] = compareSection(t, name, property, f.Fields)
			continue
		}
		value, has := property["default"]
		if !has {
			t.Errorf("%s: no default", name)
		}
		defaults[f.Key] = value
	}
	return defaults
}

func TestSchemaIsACopy(t *testing.T) {
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller can change the schema")
	}
}
