package policy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/testschema"
)

// TestSchemaIsGenerated fails when schema.json is not what the table of fields, the
// defaults, the presets and testdata/schema_values.json make of it. The last says which
// values a key takes; everything else is known to the table. With -update it writes it.
func TestSchemaIsGenerated(t *testing.T) {
	const file = "schema.json"
	want := schemaText(t)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run go test ./internal/policy -run TestSchemaIsGenerated -update", file)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func schemaText(t *testing.T) []byte {
	t.Helper()
	values, err := os.ReadFile(filepath.Join("testdata", "schema_values.json"))
	if err != nil {
		t.Fatal(err)
	}
	presets, err := json.Marshal(presetNames())
	if err != nil {
		t.Fatal(err)
	}
	values = bytes.Replace(values, []byte(`["@PRESETS"]`), presets, 1)
	text, err := testschema.Generate(`"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:cordon:policy:1","title":"cordon policy",`+
		`"description":"What one worker may do. A missing key has its default; an explicit empty list allows nothing."`, fieldTable(), Default(), values)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
