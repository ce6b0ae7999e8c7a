package view

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/json.md and docs/schema from the structs of this package")

const (
	docs    = "../../docs"
	draft   = "https://json-schema.org/draft/2020-12/schema"
	howNext = "run go test ./internal/view -update"
)

// TestPublished fails when the published schemas or their page are not what the structs
// say. With -update it writes them.
func TestPublished(t *testing.T) {
	files := map[string][]byte{"json.md": page()}
	for _, s := range Schemas() {
		files["schema/"+fileOf(s.Name)] = encoded(t, published(s))
	}
	for name, want := range files {
		current(t, filepath.Join(docs, filepath.FromSlash(name)), want)
	}
	there, err := filepath.Glob(filepath.Join(docs, "schema", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		if files["schema/"+filepath.Base(file)] == nil {
			t.Errorf("%s is the schema of nothing: remove it", file)
		}
	}
}

func current(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Errorf("%s is not current: %s", file, howNext)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// fileOf is the name of the file that holds a schema.
func fileOf(name string) string { return strings.ReplaceAll(name, "/", "-") + ".json" }

// shape is a JSON Schema.
type shape struct {
	Draft       string     `json:"$schema,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Const       string     `json:"const,omitempty"`
	Type        string     `json:"type,omitempty"`
	Format      string     `json:"format,omitempty"`
	Encoding    string     `json:"contentEncoding,omitempty"`
	AnyOf       []*shape   `json:"anyOf,omitempty"`
	Items       *shape     `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	More        *shape     `json:"additionalProperties,omitempty"` // of a map
	Defs        properties `json:"$defs,omitempty"`
}

// properties are shapes by name, in order.
type properties []property

type property struct {
	name string
	*shape
}

func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, one := range p {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := plain(one.name)
		if err != nil {
			return nil, err
		}
		value, err := plain(one.shape)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

func encoded(t *testing.T, s *shape) []byte {
	t.Helper()
	raw, err := plain(s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// published is the schema of an object. It allows further fields: a later version may
// print more.
func published(s Schema) *shape {
	var defs properties
	top := object(reflect.TypeOf(s.Object).Elem(), &defs)
	top.Draft, top.Title, top.Description, top.Defs = draft, s.Name, s.About, defs
	top.Properties[0].Const = s.Name
	return top
}

// object is the shape of a struct. Structs inside it become definitions.
func object(t reflect.Type, defs *properties) *shape {
	s := &shape{Type: "object"}
	for _, f := range fields(t) {
		one := shapeOf(f.Type, defs)
		if f.null {
			one = &shape{AnyOf: []*shape{one, {Type: "null"}}}
		}
		one.Description = f.doc
		s.Properties = append(s.Properties, property{f.name, one})
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

func shapeOf(t reflect.Type, defs *properties) *shape {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &shape{Type: "string", Format: "date-time"}
	case reflect.TypeFor[Text]():
		return &shape{AnyOf: []*shape{{Type: "string"}, shapeOf(reflect.TypeFor[Bytes](), defs)}}
	case reflect.TypeFor[Document]():
		return &shape{Type: "object"}
	case reflect.TypeFor[[]byte]():
		return &shape{Type: "string", Encoding: "base64"}
	}
	switch t.Kind() {
	case reflect.String:
		return &shape{Type: "string"}
	case reflect.Bool:
		return &shape{Type: "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return &shape{Type: "integer"}
	case reflect.Float64:
		return &shape{Type: "number"}
	case reflect.Pointer:
		return shapeOf(t.Elem(), defs)
	case reflect.Slice:
		return &shape{Type: "array", Items: shapeOf(t.Elem(), defs)}
	case reflect.Map:
		return &shape{Type: "object", More: shapeOf(t.Elem(), defs)}
	case reflect.Struct:
		return definition(t, defs)
	}
	panic(t.String() + " has no form in JSON that is described")
}

// definition puts a struct among the definitions and refers to it.
func definition(t reflect.Type, defs *properties) *shape {
	for _, d := range *defs {
		if d.name == t.Name() {
			return &shape{Ref: "#/$defs/" + t.Name()}
		}
	}
	at := len(*defs)
	*defs = append(*defs, property{name: t.Name()})
	made := object(t, defs)
	(*defs)[at].shape = made
	return &shape{Ref: "#/$defs/" + t.Name()}
}

// field is a field of a struct in JSON.
type field struct {
	reflect.StructField
	name, doc      string
	optional, null bool
}

// fields are those of a struct, and of the structs that it embeds.
func fields(t reflect.Type) (list []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			list = append(list, fields(f.Type)...)
			continue
		}
		list = append(list, fieldOf(f))
	}
	return list
}

func fieldOf(f reflect.StructField) field {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	one := field{StructField: f, name: name, doc: f.Tag.Get("doc"), optional: option == "omitempty"}
	one.null = f.Tag.Get("null") != "" || f.Type.Kind() == reflect.Pointer && !one.optional
	return one
}
