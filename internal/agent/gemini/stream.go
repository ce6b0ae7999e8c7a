package gemini

import (
	"encoding/json"
	"strings"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tokens: stream.AtEnd, Tells: true, Hidden: []string{"invoke_agent"},
}

// parser reads gemini -o stream-json.
//
// Every call that the model makes is in the stream; those of sub-agents are not.
// Wrong inputs and paths outside of the workspace are found before the hook is
// asked. Hooks are told no IDs. Words come in pieces, which are put together here.
type parser struct {
	said strings.Builder
}

type streamLine struct {
	Type       string
	Session    string `json:"session_id"`
	Model      string
	Role       string
	Content    string
	Delta      bool
	Tool       string `json:"tool_name"`
	ID         string `json:"tool_id"`
	Parameters json.RawMessage
	Status     string
	Output     string
	Severity   string
	Message    string
	Error      struct{ Type, Message string }
	Stats      struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Cached int `json:"cached"`
	}
}

// unrunErrors are the errors of calls that never ran.
var unrunErrors = map[string]bool{"policy_violation": true, "tool_not_registered": true, "invalid_tool_params": true}

func (p *parser) End() []stream.Item {
	if p.said.Len() == 0 {
		return nil
	}
	text := p.said.String()
	p.said.Reset()
	return []stream.Item{{Kind: stream.Said, Text: text}}
}

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	if l.Type == "message" && l.Role == "assistant" && l.Delta {
		p.said.WriteString(l.Content)
		if p.said.Len() > stream.MaxText {
			return p.End(), true
		}
		return nil, true
	}
	items, ok := l.items()
	if !ok {
		return nil, false
	}
	return append(p.End(), items...), true
}

func (l streamLine) items() ([]stream.Item, bool) {
	switch l.Type {
	case "init":
		return []stream.Item{{Kind: stream.Began, Session: l.Session, Model: l.Model}}, true
	case "message":
		if l.Role == "assistant" {
			return []stream.Item{{Kind: stream.Said, Text: l.Content}}, true
		}
		return nil, true
	case "tool_use":
		return []stream.Item{{Kind: stream.Called, Call: stream.Call{ID: l.ID, Tool: l.Tool, Input: stream.InputLine(l.Parameters)}}}, true
	case "tool_result":
		failed := l.Status != "success"
		c := stream.Call{ID: l.ID, Ended: true, Failed: failed, Ran: !failed || !unrunErrors[l.Error.Type]}
		return []stream.Item{{Kind: stream.Told, Call: c, Text: stream.Or(l.Error.Message, l.Output), Failed: failed}}, true
	case "error":
		return []stream.Item{{Kind: stream.Noted, Text: stream.Reason(l.Message), Failed: l.Severity != "warning"}}, true
	case "result":
		u := stream.Usage{Input: l.Stats.Input, Output: l.Stats.Output, Cached: l.Stats.Cached}
		list := []stream.Item{{Kind: stream.Used, Usage: u}}
		if l.Error.Message != "" {
			list = append(list, stream.Item{Kind: stream.Noted, Text: stream.Reason(l.Error.Message), Failed: true})
		}
		return append(list, stream.Item{Kind: stream.Over, Reason: l.Status, Failed: l.Status != "success"}), true
	}
	return nil, false
}
