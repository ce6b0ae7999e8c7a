package view

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	jsonName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	nameForm = regexp.MustCompile(`^cordon\.[a-z.-]+/[0-9]+$`)
)

// Every field of every object says in one sentence what it means, and no type leaves
// open what it holds.
func TestFieldsAreDocumented(t *testing.T) {
	seen := map[reflect.Type]bool{}
	names := map[string]bool{}
	for _, s := range Schemas() {
		if !nameForm.MatchString(s.Name) || names[s.Name] || !strings.HasSuffix(s.About, ".") || s.By == "" {
			t.Errorf("the schema %q has no good name, or a second time, or no words", s.Name)
		}
		names[s.Name] = true
		described(t, reflect.TypeOf(s.Object).Elem(), seen)
	}
	if len(seen) < 60 {
		t.Errorf("only %d structs were looked at", len(seen))
	}
}

func described(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		described(t, typ.Elem(), seen)
		return
	case reflect.Interface:
		t.Errorf("%s says nothing about what it holds", typ)
		return
	case reflect.Struct:
	default:
		return
	}
	if seen[typ] || typ == reflect.TypeFor[time.Time]() {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		described(t, f.Type, seen)
		if f.Anonymous {
			continue
		}
		one := fieldOf(f)
		if !jsonName.MatchString(one.name) || !strings.HasSuffix(one.doc, ".") || strings.ContainsAny(one.doc, "|\n") {
			t.Errorf("%s.%s has the name %q in JSON and says %q", typ, f.Name, one.name, one.doc)
		}
	}
}

// An object is printed with the name of its schema, and a struct without one is not.
func TestEncode(t *testing.T) {
	text, err := Encode(&Diff{Worker: "brisk-otter", Patch: "<&>"})
	if want := "{\n  \"schema\": \"cordon.diff/1\",\n  \"worker\": \"brisk-otter\",\n  \"patch\": \"<&>\"\n}\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	type stranger struct{ Head }
	if text, err := Encode(&stranger{}); err == nil {
		t.Errorf("a struct without a schema was printed: %s", text)
	}
}

// No byte of a text is lost.
func TestText(t *testing.T) {
	for _, text := range []Text{"", "plain", "caf\xe9", "\x00\xff"} {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back Text
		if err := json.Unmarshal(b, &back); err != nil || back != text {
			t.Errorf("%q became %q in %s: %v", text, back, b, err)
		}
	}
}
