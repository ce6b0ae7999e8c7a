package pi

import (
	"bytes"
	"encoding/json"
	"strings"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the extension go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tokens: stream.During, Cost: stream.During,
	IDs: true,
}

// parser reads pi --mode json.
//
// A call begins before the extension is asked, which is told the ID that is here. A tool that does not
// exist and an input that a tool does not take are found before that. Words come in pieces, each with all
// of the message so far, and at its end once more as a whole; the whole is read.
type parser struct {
	usage  stream.Usage
	model  string
	reason string
	failed bool
}

type streamLine struct {
	Type    string
	ID      string // of the session
	Call    string `json:"toolCallId"`
	Tool    string `json:"toolName"`
	Args    json.RawMessage
	IsError bool
	Result  struct{ Content json.RawMessage }
	Message struct {
		Role, Model, StopReason, ErrorMessage string
		Content                               json.RawMessage
		Usage                                 struct {
			Input, Output, CacheRead, CacheWrite int
			Cost                                 struct{ Total float64 }
		}
	}
	ErrorMessage string // of a retry
}

type part struct{ Type, Text, Thinking string }

func (p *parser) End() []stream.Item { return nil }

// repeats are lines that say again what others have said, with no bound.
var repeats = []string{"message_update", "tool_execution_update", "turn_end", "agent_end"}

// Repeats returns the items of a line that says only what others have said: it need not be read, however
// long it is.
func (p *parser) Repeats(line []byte) ([]stream.Item, bool) {
	for _, r := range repeats {
		if !bytes.HasPrefix(line, []byte(`{"type":"`+r+`",`)) {
			continue
		}
		if r == "agent_end" {
			return p.over(), true
		}
		return nil, true
	}
	return nil, false
}

func (p *parser) over() []stream.Item {
	return []stream.Item{{Kind: stream.Used, Usage: p.usage}, {Kind: stream.Over, Reason: stream.Or(p.reason, "end"), Failed: p.failed}}
}

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "session":
		return []stream.Item{{Kind: stream.Began, Session: l.ID}}, true
	case "message_end":
		return p.message(l), true
	case "tool_execution_start":
		return []stream.Item{{Kind: stream.Called, Call: stream.Call{ID: l.Call, Tool: l.Tool, Input: stream.InputLine(l.Args)}}}, true
	case "tool_execution_end":
		return []stream.Item{l.told()}, true
	case "auto_retry_start":
		return []stream.Item{{Kind: stream.Noted, Text: stream.Reason(l.ErrorMessage), Failed: true}}, true
	case "agent_end":
		return p.over(), true
	}
	return nil, isAside(l.Type)
}

// isAside knows the lines that are no news to anybody.
func isAside(kind string) bool {
	switch kind {
	case "agent_start", "turn_start", "turn_end", "message_start", "message_update", "tool_execution_update", "queue_update",
		"compaction_start", "compaction_end", "auto_retry_end", "session_info_changed", "thinking_level_changed":
		return true
	}
	return false
}

// message is what an assistant has said in one turn.
func (p *parser) message(l streamLine) (list []stream.Item) {
	m := l.Message
	if m.Role != "assistant" {
		return nil
	}
	if model := stream.Kept(m.Model, stream.MaxName); model != p.model {
		p.model = model
		list = append(list, stream.Item{Kind: stream.Began, Model: model})
	}
	var parts []part
	stream.Decode(m.Content, &parts)
	for _, c := range parts {
		switch {
		case c.Type == "text" && c.Text != "":
			list = append(list, stream.Item{Kind: stream.Said, Text: c.Text})
		case c.Type == "thinking" && c.Thinking != "":
			list = append(list, stream.Item{Kind: stream.Thought, Text: c.Thinking})
		}
	}
	if m.ErrorMessage != "" {
		list = append(list, stream.Item{Kind: stream.Noted, Text: stream.Reason(m.ErrorMessage), Failed: true})
	}
	p.reason, p.failed = stream.Kept(m.StopReason, stream.MaxName), m.StopReason == "error" || m.StopReason == "aborted"
	p.usage.Input += m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheWrite
	p.usage.Output += m.Usage.Output
	p.usage.Cached += m.Usage.CacheRead
	p.usage.Cost += m.Usage.Cost.Total
	p.usage.Turns++
	return append(list, stream.Item{Kind: stream.Used, Usage: p.usage})
}

func (l streamLine) told() stream.Item {
	text := stream.Words(l.Result.Content)
	c := stream.Call{ID: l.Call, Ended: true, Failed: l.IsError, Ran: !l.IsError || !l.unrun(text)}
	return stream.Item{Kind: stream.Told, Call: c, Text: text, Failed: l.IsError}
}

// unrun reports whether the client did not start a call, by its words. A command cannot say them: its own come with
// how it ended.
func (l streamLine) unrun(text string) bool {
	if text == "Tool "+l.Tool+" not found" {
		return true
	}
	return l.Tool != "bash" && strings.HasPrefix(text, "Validation failed for tool \""+l.Tool+"\":") ||
		l.Tool == "bash" && strings.HasPrefix(text, "Validation failed for tool \"bash\":") && !strings.Contains(text, "\n\nCommand ")
}
