package testschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Generate writes the schema of a strict YAML file from its table of fields, its defaults
// and values, a JSON object that says which values each key takes (Values) and what they
// refer to ($defs). head holds the first members of the schema.
func Generate[T any](head string, fields []strictyaml.Field[T], defaults T, values []byte) ([]byte, error) {
	var parts struct {
		Values map[string]json.RawMessage
		Defs   json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(values, &parts); err != nil {
		return nil, err
	}
	g := generator[T]{defaults, parts.Values}
	body, err := g.section("", fields)
	if err != nil {
		return nil, err
	}
	for key := range parts.Values {
		return nil, fmt.Errorf("no field has the key %s", key)
	}
	whole := "{" + head + "," + body
	if parts.Defs != nil {
		whole += `,"$defs":` + string(parts.Defs)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(whole+"}"), "", "  "); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, whole)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

type generator[T any] struct {
	defaults T
	values   map[string]json.RawMessage
}

// section is the members of an object that has these fields. It takes the values that it
// uses out of the table.
func (g generator[T]) section(prefix string, fields []strictyaml.Field[T]) (string, error) {
	var list []string
	for _, f := range fields {
		key, members := prefix+f.Key, ""
		if f.Fields != nil {
			inner, err := g.section(key+".", f.Fields)
			if err != nil {
				return "", err
			}
			members = inner
		} else {
			value, err := defaultValue(f.Show(g.defaults))
			if err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
			members = strings.TrimSuffix(strings.TrimPrefix(string(g.values[key]), "{"), "}") + `,"default":` + jsonText(value)
			delete(g.values, key)
		}
		list = append(list, jsonText(f.Key)+`:{"description":`+jsonText(f.Doc)+","+members+"}")
	}
	return `"type":"object","additionalProperties":false,"properties":{` + strings.Join(list, ",") + "}", nil
}

// defaultValue is the default of a field, as JSON has it.
func defaultValue(v strictyaml.Shown) (value any, err error) {
	err = yaml.Unmarshal([]byte(v.Line()), &value)
	return value, err
}

func jsonText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings, numbers, and lists of them
	}
	return strings.TrimSpace(b.String())
}
