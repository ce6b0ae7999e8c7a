package policy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
	text, err := os.ReadFile(filepath.Join("testdata", "schema_values.json"))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`["@PRESETS"]`), jsonText(t, presetNames()), 1)
	var parts struct {
		Values map[string]json.RawMessage
		Defs   json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	whole := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:cordon:policy:1","title":"cordon policy",` +
		`"description":"What one worker may do. A missing key has its default; an explicit empty list allows nothing.",` +
		section(t, "", fieldTable(), parts.Values) + `,"$defs":` + string(parts.Defs) + "}"
	for key := range parts.Values {
		t.Errorf("no field has the key %s", key)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(whole), "", "  "); err != nil {
		t.Fatalf("%v\n%s", err, whole)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// section is the members of an object that has these fields. It takes the values that it
// uses out of the table.
func section(t *testing.T, prefix string, fields []field, values map[string]json.RawMessage) string {
	t.Helper()
	var list []string
	for _, f := range fields {
		members := `"description":` + string(jsonText(t, f.doc)) + ","
		key := prefix + f.key
		if f.fields != nil {
			members += section(t, key+".", f.fields, values)
		} else {
			members += strings.TrimSuffix(strings.TrimPrefix(string(values[key]), "{"), "}") + `,"default":` + string(jsonText(t, defaultValue(t, f)))
			delete(values, key)
		}
		list = append(list, string(jsonText(t, f.key))+":{"+members+"}")
	}
	return `"type":"object","additionalProperties":false,"properties":{` + strings.Join(list, ",") + "}"
}

// defaultValue is the default of a field, as JSON has it.
func defaultValue(t *testing.T, f field) any {
	t.Helper()
	v := f.show(Default())
	text := v.scalar
	if v.isList {
		entries := make([]string, len(v.list))
		for i, s := range v.list {
			entries[i] = v.entry(s)
		}
		text = "[" + strings.Join(entries, ", ") + "]"
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func jsonText(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
