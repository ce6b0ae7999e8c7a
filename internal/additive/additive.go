// Package additive reads JSON that another version of cordon may have written.
//
// A version that adds a field to something that is kept (an event of the journal, a
// lease, a record about a worker) decides what versions do that do not know the field.
// If its name begins with [Mark], they leave it out and understand the rest: the field
// adds something and changes the meaning of nothing. Any other name is refused by them,
// because it may change what the other fields mean or forbid something.
//
// The same mark begins the type of an event that a reader may skip (package ledger). The
// bytes that hold a skipped field or event are kept as they are; hashes cover them.
//
// The package refuses every field that it does not know and that has no mark.
package additive

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Mark begins the name of a field or an event that those who do not know it skip.
const Mark = "+"

// Is reports whether a name has the mark.
func Is(name string) bool { return strings.HasPrefix(name, Mark) }

// Decode reads one JSON value strictly, but for unknown fields that have the mark.
func Decode(raw []byte, into any) error {
	_, err := Known(raw, into)
	return err
}

// Known is Decode, and returns the bytes without the fields that were left out. They are
// raw itself where there were none.
func Known(raw []byte, into any) ([]byte, error) {
	err := strict(raw, into)
	if err == nil || !bytes.Contains(raw, []byte(`"`+Mark)) {
		return raw, err
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() || !json.Valid(raw) {
		return raw, err
	}
	known, serr := strip(raw, target.Type())
	if serr != nil {
		return raw, err
	}
	target.Elem().SetZero() // of what the first attempt left there
	return known, strict(known, into)
}

func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}

var (
	jsonType = reflect.TypeFor[json.Unmarshaler]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// strip leaves out what t does not know and has the mark, in the order of the rest.
func strip(raw json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(jsonType) || p.Implements(textType) {
		return raw, nil
	}
	switch first := bytes.TrimLeft(raw, " \t\r\n"); {
	case len(first) > 0 && first[0] == '{' && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		return object(raw, t)
	case len(first) > 0 && first[0] == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		return list(raw, t.Elem())
	}
	return raw, nil
}

func list(raw json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	parts := make([][]byte, len(items))
	for i, item := range items {
		part, err := strip(item, t)
		if err != nil {
			return nil, err
		}
		parts[i] = part
	}
	return wrap('[', parts, ']'), nil
}

func object(raw json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var parts [][]byte
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		of, known := member(t, name)
		if !known && Is(name) {
			continue
		}
		if known {
			if value, err = strip(value, of); err != nil {
				return nil, err
			}
		}
		parts = append(parts, append(quote(name), value...))
	}
	return wrap('{', parts, '}'), nil
}

func wrap(open byte, parts [][]byte, end byte) json.RawMessage {
	b := append([]byte{open}, bytes.Join(parts, []byte(","))...)
	return append(b, end)
}

// quote is a name as encoding/json writes it without the escapes for HTML.
func quote(name string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(name) // a string has an encoding, and a buffer takes it
	return append(bytes.TrimSuffix(b.Bytes(), []byte("\n")), ':')
}

// member is the type of the member of t that encoding/json would give a name to.
func member(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || tag == "-" || f.Anonymous && tag == "" {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		if strings.EqualFold(tag, name) {
			return f.Type, true
		}
	}
	return nil, false
}
