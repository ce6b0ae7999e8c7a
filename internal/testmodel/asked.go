package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// asked is a request in one form, whatever its protocol.
type asked struct {
	model   string
	system  []string
	user    []string
	tools   []string
	free    map[string]bool // tools that take free text
	stream  bool
	said    []said
	results []Result
	schema  json.RawMessage // of the words that are wanted, if they must have one
}

// said is one turn of the model's in the history of a conversation.
type said struct {
	text  string
	calls []string // their ids
}

// reply is what is answered.
type reply struct {
	id    string
	text  string
	calls []sent
}

type sent struct {
	id, tool string
	input    map[string]any
}

func (s sent) arguments() string {
	b, err := json.Marshal(s.input)
	if err != nil {
		return "{}" // a script of a test holds values that JSON has
	}
	return string(b)
}

// Tree stands in the inputs of calls for the directory that a client says it works in: some take no
// relative paths.
const Tree = "{tree}"

// tree is the directory that the client says it works in; "" if it does not.
func (a asked) tree() string {
	const said = "working in the directory: "
	_, rest, ok := strings.Cut(strings.Join(append(slices.Clone(a.system), a.user...), "\n"), said)
	if !ok {
		return ""
	}
	dir, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(dir, ". ")
}

// placed is an input with a directory in the place of Tree.
func placed(in map[string]any, tree string) map[string]any {
	out := map[string]any{}
	for name, v := range in {
		if text, ok := v.(string); ok && tree != "" {
			v = strings.ReplaceAll(text, Tree, tree)
		}
		out[name] = v
	}
	return out
}

// next is the turn that follows a history: the one after the last turn whose calls
// or words are in it. Words of others (clients put some into the model's mouth) do
// not count.
func next(turns []Turn, history []said) (int, Turn) {
	n := 0
	for _, s := range history {
		switch at, known := turnOf(s.calls); {
		case known:
			n = max(n, at+1)
		case len(s.calls) > 0:
			n++
		case n < len(turns) && len(turns[n].Calls) == 0 && strings.Contains(s.text, turns[n].Text):
			n++
		}
	}
	if n < len(turns) {
		return n, turns[n]
	}
	return n, Turn{Text: "done"}
}

func turnOf(ids []string) (int, bool) {
	for _, id := range ids {
		var turn, call, serial int
		if n, _ := fmt.Sscanf(id, "call_t%d_%d_%d", &turn, &call, &serial); n == 3 {
			return turn, true
		}
	}
	return 0, false
}

// aside answers a question that has no tools: a title, a summary, a choice of a
// model. It is in the form that is asked for.
func aside(a asked) string {
	if a.schema == nil {
		return "a side answer"
	}
	var schema any
	if json.Unmarshal(a.schema, &schema) != nil {
		return "{}"
	}
	b, err := json.Marshal(sample(schema))
	if err != nil {
		return "{}"
	}
	return string(b)
}

// sample is the plainest value of a schema.
func sample(schema any) any {
	s, _ := schema.(map[string]any)
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	kind, _ := s["type"].(string)
	switch strings.ToLower(kind) {
	case "object":
		o := object{}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			o[name] = sample(p)
		}
		return o
	case "array":
		return []any{}
	case "number", "integer":
		return 1
	case "boolean":
		return false
	}
	return "a side answer"
}

// names finds the name of a tool by the id of its call.
type names map[string]string

type object = map[string]any

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs none
}

// events writes server-sent events.
type events struct{ w http.ResponseWriter }

func startEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return events{w}
}

// send writes an event that names its type, as Anthropic's and those of Responses do.
func (e events) send(kind string, o object) {
	o["type"] = kind
	fmt.Fprintf(e.w, "event: %s\n", kind)
	e.data(o)
}

func (e events) data(o object) {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // the server drops the connection; the script is wrong
	}
	fmt.Fprintf(e.w, "data: %s\n\n", b)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// words are the texts of a content: a string, or a list of parts with a text.
func words(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Type, Text string
	}
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	var list []string
	for _, p := range parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}
