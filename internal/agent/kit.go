package agent

import (
	"bytes"
	"encoding/json"
	"reflect"

	"cordon/internal/client"
)

// wiring is what the hooks of a launch are made of.
func (o Order) wiring() client.Wiring {
	return client.Wiring{Client: o.Client, Guard: o.Guard, Extra: o.Extra, Label: o.Label}
}

func (k *Kit) file(name string, text []byte) { k.Files = append(k.Files, File{Name: name, Text: text}) }

// seed adds a file in JSON to those that the client finds in its state.
func (k *Kit) seed(name string, v any) error {
	text, err := compact(v)
	if err == nil {
		k.Seeds = append(k.Seeds, File{Name: name, Text: append(text, '\n')})
	}
	return err
}

// compact is JSON on one line, without the escapes meant for web pages.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }
