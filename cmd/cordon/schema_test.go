package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cordon/internal/ledger"
	"cordon/internal/view"
)

// published are the compiled schemas of docs/schema by name, strict: they allow no field
// that is not documented. A later cordon may print more; this one prints what they say.
var published = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := filepath.Glob("../../docs/schema/*.json")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no schemas: %v", err)
	}
	list := map[string]*jsonschema.Schema{}
	for _, file := range files {
		name, schema, err := strictSchema(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list[name] = schema
	}
	return list, nil
})

func strictSchema(file string) (string, *jsonschema.Schema, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return "", nil, err
	}
	forbidMore(doc)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		return "", nil, err
	}
	schema, err := c.Compile("schema.json")
	name, _ := doc.(map[string]any)["title"].(string)
	return name, schema, err
}

// forbidMore makes every object that has properties refuse others.
func forbidMore(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		if _, ok := doc["properties"].(map[string]any); ok && doc["type"] == "object" {
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

// valid holds what a command printed against the published schema that it names.
func valid(text string) error {
	schemas, err := published()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	object, _ := doc.(map[string]any)
	name, _ := object["schema"].(string)
	if schemas[name] == nil {
		return fmt.Errorf("the schema %q is not published", name)
	}
	return schemas[name].Validate(doc)
}

// The control: an object that lacks a field, has another type or says more is refused.
func TestValidRefuses(t *testing.T) {
	const good = `{"schema": "cordon.discard/1", "worker": "brisk-otter", "status": "discarded"}`
	if err := valid(good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"brisk-otter"`, `7`, 1), strings.Replace(good, `, "status": "discarded"`, ``, 1),
		strings.Replace(good, `{`, `{"more": 1, `, 1), strings.Replace(good, `discard/1`, `discard/2`, 1), `[]`, `null`,
		`{"schema": "cordon.checkout/1", "worker": "brisk-otter", "checkout": {"more": 1}}`,
		`{"schema": "cordon.repair/1", "kept": 1, "problem": "", "workers": [{"worker": "x", "what": "y"}], "done": true}`,
	} {
		if err := valid(bad); err == nil {
			t.Errorf("%s is valid", bad)
		}
	}
}

// elsewhere are the schemas that no script prints, and the test that does.
var elsewhere = map[string]string{"cordon.probe/1": "TestProbe"}

// Every published schema is held against real output: by the json command of a script, or
// by a test.
func TestEverySchemaIsPrinted(t *testing.T) {
	scripts, err := filepath.Glob("testdata/s*/*.txtar")
	if err != nil || len(scripts) < 50 {
		t.Fatal(len(scripts), err)
	}
	printed := map[string]bool{}
	named := regexp.MustCompile(`(?m)^json (cordon\.\S+)`)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			printed[string(m[1])] = true
		}
	}
	for _, s := range view.Schemas() {
		if !printed[s.Name] && elsewhere[s.Name] == "" {
			t.Errorf("no script holds the output of %s against %s", s.By, s.Name)
		}
	}
}

// Every state of a worker is documented, and no other.
func TestStatesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range view.States() {
		documented[s.Word] = true
	}
	states := []ledger.Status{
		ledger.Leasing, ledger.Ready, ledger.Running, ledger.Lost, ledger.Stopped, ledger.Failed, ledger.Asking, ledger.Finished,
		ledger.Gating, ledger.MergedIn, ledger.NoChange, ledger.Conflicted, ledger.WaitingFor, ledger.InQuarantine, ledger.ThrownAway,
	}
	for _, s := range states {
		if !documented[string(s)] {
			t.Errorf("%s is not documented", s)
		}
	}
	if len(documented) != len(states) {
		t.Errorf("%d states are documented, and there are %d", len(documented), len(states))
	}
}

// checkOutput fails a test when what a command printed with --json is not what is published.
func (s *site) checkOutput(args []string, out string) {
	s.t.Helper()
	for _, arg := range args {
		if arg == "--" {
			return
		}
		if arg == "--json" {
			if err := valid(out); err != nil {
				s.t.Errorf("cordon %s: %v", strings.Join(args, " "), err)
			}
			return
		}
	}
}
