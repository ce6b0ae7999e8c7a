package agent

import (
	"bytes"
	"encoding/json"
	"errors"

	"cordon/internal/client"
)

// Wiring is what the hooks of a launch are made of.
func (o Order) Wiring() client.Wiring {
	return client.Wiring{Client: o.dialect, Guard: o.Guard, Extra: o.Extra, Label: o.Label}
}

func (k *Kit) AddFile(name string, text []byte) {
	k.Files = append(k.Files, File{Name: name, Text: text})
}

// AddSeed adds a file in JSON to those that the client finds in its state.
func (k *Kit) AddSeed(name string, v any) error {
	text, err := Compact(v)
	if err == nil {
		k.Seeds = append(k.Seeds, File{Name: name, Text: append(text, '\n')})
	}
	return err
}

// Compact is JSON on one line, without the escapes meant for web pages.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ErrNoPrompt is a launch with nothing to do.
var ErrNoPrompt = errors.New("without a terminal it needs a prompt after --")
