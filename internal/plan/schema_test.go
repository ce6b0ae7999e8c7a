package plan

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

func validator(t *testing.T) func(text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
}

// Every key says which values it takes, and no value is for a key that there is not.
func TestSchemaHasEveryKey(t *testing.T) {
	left := map[string]bool{}
	for key := range values {
		left[key] = true
	}
	keys(t, left, "", fields())
	keys(t, left, "stages.", stageFields())
	for key := range left {
		t.Errorf("there is no key %s", key)
	}
}

func keys[T any](t *testing.T, left map[string]bool, prefix string, fields []strictyaml.Field[T]) {
	for _, f := range fields {
		key := prefix + f.Key
		switch {
		case f.Fields != nil:
			keys(t, left, key+".", f.Fields)
		case key != "stages" && !left[key]:
			t.Errorf("the schema does not say which values %s takes", key)
		}
		delete(left, key)
	}
}

// What the reader takes, the schema takes too; and the schema refuses the mistakes that it can see.
func TestSchemaAgrees(t *testing.T) {
	validate := validator(t)
	const head = "version: 1\nplan: p\nstages:\n"
	full := `  - {id: a, name: A, kind: survey, task: {file: t.md}, agent: claude, model: m, write: [docs], artifacts: [x, {path: docs/b, contains: z, not: [TODO]}],
     acceptance: [make, {run: make, paths: [src]}], truths: [It is., {claim: c, run: r, exit: 2, stdout: s}], retries: {failed: 1, rejected: 2, lost: 3},
     budget: {time: 2h, tokens: 2M, cost: 5}, review: {agent: codex, rounds: 2, must: true}}
  - {id: b, after: [a], reads: [a], dir: src, command: [make], write: [src], artifacts: [src/x]}
`
	document, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(document), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	for _, text := range []string{
		head + full, chain, example, strings.Replace(head, "stages", "target: main\nland: together\nparallel: 3\nnarrow: {deny_read: [a], deny_write: [b], allowed_domains: [c.example]}\nstages", 1) + full,
	} {
		if _, err := Parse("p.yaml", []byte(text)); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if err := validate(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	for _, stage := range []string{
		"{task: t}", "{id: A}", "{id: a, kind: resolve}", "{id: a, tasks: t}", "{id: a, truths: [{claim: c, exit: 2}]}", "{id: a, budget: {cost: 0}}",
		"{id: a, artifacts: [{contains: x}]}", "{id: a, retries: {failed: 11}}", "{id: a, task: ''}",
	} {
		if err := validate(head + "  - " + stage + "\n"); err == nil {
			t.Errorf("the schema takes %s", stage)
		}
		if _, err := Parse("p.yaml", []byte(head+"  - "+stage+"\n")); err == nil {
			t.Errorf("the reader takes %s", stage)
		}
	}
}
