package strictyaml

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Field is one key of a file that becomes a T. A table of fields is the only place
// that knows the keys: the reader, the writer, the suggestions and the generators of
// schemas and documents all walk it, and its order is the documented order.
type Field[T any] struct {
	Key    string
	Doc    string     // one line; also the description in the schema
	Fields []Field[T] // of a section; Read and Show are nil then
	Read   func(*T, *yaml.Node) error
	Show   func(T) Shown
}

// Shown is a value on its way to YAML: a list of texts, or one scalar that is
// already in YAML form.
type Shown struct {
	IsList bool
	List   []string
	Bare   bool // the entries of the list are in YAML form too
	Scalar string
}

// Entry writes an entry of the list.
func (v Shown) Entry(s string) string {
	if v.Bare {
		return s
	}
	return Quote(s)
}

// Line is the value in YAML form, on one line.
func (v Shown) Line() string {
	if !v.IsList {
		return v.Scalar
	}
	entries := make([]string, len(v.List))
	for i, s := range v.List {
		entries[i] = v.Entry(s)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}

// Section is a key with keys of its own.
func Section[T any](key, doc string, fields []Field[T]) Field[T] {
	return Field[T]{Key: key, Doc: doc, Fields: fields}
}

// Scalar is a field with one value, which read takes from a node.
func Scalar[T, V any](key, doc string, of func(*T) *V, read func(*yaml.Node) (V, error), show func(V) string) Field[T] {
	return Field[T]{Key: key, Doc: doc,
		Read: func(t *T, n *yaml.Node) error {
			v, err := read(n)
			if err != nil {
				return At(n, err)
			}
			*of(t) = v
			return nil
		},
		Show: func(t T) Shown { return Shown{Scalar: show(*of(&t))} },
	}
}

// Text is a field with one string that a check accepts and normalises.
func Text[T any](key, doc string, of func(*T) *string, check func(string) (string, error)) Field[T] {
	return Scalar(key, doc, of, func(n *yaml.Node) (string, error) {
		s, err := ReadText(n)
		if err != nil {
			return "", err
		}
		return check(s)
	}, Quote)
}

// Sequence is a field with a list of strings.
func Sequence[T any](key, doc string, of func(*T) *[]string, read func(*yaml.Node) ([]string, error)) Field[T] {
	f := Scalar(key, doc, of, read, nil)
	f.Show = func(t T) Shown { return Shown{IsList: true, List: *of(&t)} }
	return f
}
