package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The operator's own settings choose a model and a server. They may also hold hooks,
// plugins, permissions and trust, so that a kit never shows them as they are: it
// takes from them the members that it names.

// Kept are the members of a settings file that a kit takes over. A file that cannot
// be read is an error: the operator would wonder why another model answers.
func (o Order) Kept(file string, names ...string) (map[string]any, error) {
	text, ok := o.Own[file]
	if !ok || len(strings.TrimSpace(string(text))) == 0 {
		return map[string]any{}, nil
	}
	all, err := readJSON(text)
	if err != nil {
		return nil, fmt.Errorf("~/%s is not understood: %w", file, err)
	}
	own := map[string]any{}
	for _, name := range names {
		if v, ok := all[name]; ok {
			own[name] = v
		}
	}
	return own, nil
}

func readJSON(text []byte) (map[string]any, error) {
	var all map[string]any
	err := json.Unmarshal(plainJSON(text), &all)
	return all, err
}

// plainJSON is JSON without the comments and the commas at an end that the clients
// allow in it.
func plainJSON(text []byte) []byte {
	var b []byte
	for i := 0; i < len(text); i++ {
		switch rest := string(text[i:min(i+2, len(text))]); {
		case text[i] == '"':
			end := stringEnd(text, i)
			b = append(b, text[i:end]...)
			i = end - 1
		case rest == "//":
			i = skip(text, i, "\n")
		case rest == "/*":
			i = skip(text, i+2, "*/")
		case text[i] == '}' || text[i] == ']':
			b = append([]byte(strings.TrimSuffix(strings.TrimRight(string(b), " \t\r\n"), ",")), text[i])
		default:
			b = append(b, text[i])
		}
	}
	return b
}

// stringEnd is behind the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// skip is the last place of what ends with a text.
func skip(text []byte, from int, end string) int {
	if at := strings.Index(string(text[min(from, len(text)):]), end); at >= 0 {
		return from + at + len(end) - 1
	}
	return len(text)
}

// Over lays settings over others: objects are merged, and everything else of the
// upper ones holds.
func Over(lower, upper map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range lower {
		out[k] = v
	}
	for k, v := range upper {
		below, isBelow := out[k].(map[string]any)
		above, isAbove := v.(map[string]any)
		if isBelow && isAbove {
			v = Over(below, above)
		}
		out[k] = v
	}
	return out
}

// MachineSettings are the settings that the operator's machine has at a place, whose say is
// kept where the kit's own is silent.
func (o Order) MachineSettings(place string) (map[string]any, error) {
	var m map[string]any
	if text := o.Machine[place]; len(strings.TrimSpace(string(text))) > 0 {
		if err := json.Unmarshal(plainJSON(text), &m); err != nil {
			return nil, fmt.Errorf("%s is not understood: %w", place, err)
		}
	}
	return m, nil
}

// Inside is a member of a member of settings. It may be nil.
func Inside(settings map[string]any, names ...string) any {
	var v any = settings
	for _, name := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Nested are settings that say just one thing.
func Nested(v any, names ...string) map[string]any {
	for i := len(names) - 1; i > 0; i-- {
		v = map[string]any{names[i]: v}
	}
	return map[string]any{names[0]: v}
}
