package qwen

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	IDs:    true, Early: []string{
		"write_file", "edit", "notebook_edit", "read_file", "zoom_image", "list_directory", "glob", "grep_search", "lsp", "web_fetch", "web_search",
		"agent", "skill", "todo_write", "tool_search",
	},
}

// parser reads qwen --output-format stream-json.
//
// A call is a block of an assistant's message, and its end one of a user's. The calls of sub-agents
// are among the others and name the call that they belong to. Hooks are told the IDs that are here. A
// call that failed does not say whether it ran: the client's words for those that no hook is asked
// about are known.
type parser struct{ session string }

type streamLine struct {
	Type, Subtype string
	Session       string `json:"session_id"`
	Model         string
	Parent        string `json:"parent_tool_use_id"`
	Message       struct{ Content json.RawMessage }

	// of a result
	IsError bool `json:"is_error"`
	Turns   int  `json:"num_turns"`
	Error   struct{ Message string }
	Usage   struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Cached int `json:"cache_read_input_tokens"`
	}
}

type block struct {
	Type, Text, Thinking string
	ID, Name             string
	Input                json.RawMessage
	Result               string `json:"tool_use_id"`
	Content              json.RawMessage
	IsError              bool `json:"is_error"`
}

func (p *parser) End() []stream.Item { return nil }

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "system":
		return p.system(l), true
	case "assistant", "user":
		return l.items(), true
	case "result":
		return l.result(), true
	case "stream_event", "tool_progress":
		return nil, true
	}
	return nil, false
}

// system tells the session once.
func (p *parser) system(l streamLine) []stream.Item {
	id := stream.Kept(l.Session, stream.MaxName)
	if l.Subtype != "init" || id == p.session {
		return nil
	}
	p.session = id
	return []stream.Item{{Kind: stream.Began, Session: l.Session, Model: l.Model}}
}

// items are those of a message.
func (l streamLine) items() (list []stream.Item) {
	var blocks []block
	if !stream.Decode(l.Message.Content, &blocks) {
		return nil // a plain text is what the client says in the user's name
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use":
			list = append(list, stream.Item{Kind: stream.Called, Call: stream.Call{ID: b.ID, Tool: b.Name, Input: stream.InputLine(b.Input)}, Under: l.Parent})
		case b.Type == "tool_result":
			text := stream.Words(b.Content)
			call := stream.Call{ID: b.Result, Ended: true, Failed: b.IsError, Ran: !b.IsError || !unrun(text)}
			list = append(list, stream.Item{Kind: stream.Told, Text: text, Failed: b.IsError, Under: l.Parent, Call: call})
		case l.Type == "user":
		case b.Type == "text":
			list = append(list, stream.Item{Kind: stream.Said, Text: b.Text, Under: l.Parent})
		case b.Type == "thinking":
			list = append(list, stream.Item{Kind: stream.Thought, Text: b.Thinking, Under: l.Parent})
		}
	}
	return list
}

// unrunWords are the client's words for a call that it did not start: a tool that it has not, a rule that
// forbids it, an input that the tool does not take.
var unrunWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:Tool "[^"]*" not found|Qwen Code requires permission to use "|\[tool_call bridge |params(?:/| must ))`)
})

func unrun(text string) bool { return unrunWords().MatchString(strings.TrimSpace(text)) }

func (l streamLine) result() []stream.Item {
	u := stream.Usage{Input: l.Usage.Input, Output: l.Usage.Output, Cached: l.Usage.Cached, Turns: l.Turns}
	list := []stream.Item{{Kind: stream.Used, Usage: u}}
	if l.Error.Message != "" {
		list = append(list, stream.Item{Kind: stream.Noted, Text: stream.Reason(l.Error.Message), Failed: true})
	}
	return append(list, stream.Item{Kind: stream.Over, Reason: l.Subtype, Failed: l.IsError})
}
