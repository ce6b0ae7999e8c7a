package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cordon/internal/ledger"
	"cordon/internal/testschema"
	"cordon/internal/view"
)

// published are the schemas of docs/schema.
var published = sync.OnceValues(func() (testschema.Set, error) { return testschema.Load("../../docs/schema") })

// valid holds what a command printed against the published schema that it names.
func valid(text string) error {
	schemas, err := published()
	if err != nil {
		return err
	}
	return schemas.Validate([]byte(text))
}

// elsewhere are the schemas that no script prints, and the test that does.
var elsewhere = map[string]string{"cordon.probe/1": "TestProbe", "cordon.serve/1": "TestServe", "cordon.lines/1": "TestServe", "cordon.event/1": "TestServeEvents",
	"cordon.token/1": "TestServe", "cordon.tokens/1": "TestServe",
	"cordon.decided/1": "TestServeDecides", "cordon.happened/1": "TestMCP", "cordon.fleet/1": "TestScripts of cmd/cordon-fleet"}

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
	states := ledger.Statuses()
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
