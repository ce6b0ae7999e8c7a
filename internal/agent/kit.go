package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"

	"cordon/internal/client"
)

// Wiring is what the hooks of a launch are made of.
func (o Order) Wiring() client.Wiring {
	return client.Wiring{Client: o.dialect, Guard: o.Guard, Extra: o.Extra, Label: o.Label}
}

// HookSettings are the hooks of a launch as members of settings.
func HookSettings(w client.Wiring) (map[string]any, error) {
	text, err := client.Config(w)
	if err != nil {
		return nil, err
	}
	var settings map[string]any
	return settings, json.Unmarshal(text, &settings)
}

// PromptFlags are the flags that a client takes its prompt with.
type PromptFlags struct {
	Headless    []string // all that a launch without a terminal has before the prompt
	Prompt      string   // without a terminal
	Interactive string   // on one
}

// AddPrompt ends the command line with the prompt, behind flags that have a value after "=".
func (k *Kit) AddPrompt(o Order, f PromptFlags) error {
	switch {
	case !o.Interactive && o.Prompt == "":
		return ErrNoPrompt
	case !o.Interactive:
		k.Argv = append(append(k.Argv, f.Headless...), f.Prompt+"="+o.Prompt)
	case o.Prompt != "":
		k.Argv = append(k.Argv, f.Interactive+"="+o.Prompt)
	}
	return nil
}

// AddBriefing adds the briefing, and a link of the client's state to it.
func (k *Kit) AddBriefing(o Order, link string) {
	if o.Briefing == "" {
		return
	}
	const name = "briefing.md"
	k.AddFile(name, []byte(o.Briefing))
	k.Links = append(k.Links, Link{Name: link, To: path.Join(o.Place, name)})
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
