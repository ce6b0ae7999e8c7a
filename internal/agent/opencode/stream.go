package opencode

import (
	"encoding/json"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tokens: stream.During, Cost: stream.During,
	IDs: true, Hidden: []string{"task"},
}

// parser reads opencode run --format json.
//
// A call is told once, when it has ended; those of sub-agents are not told. The hook
// is asked about every call, those of tools that do not exist among them ("invalid"),
// and it is told the ID that is here. An error does not say whether the call ran. The
// stream has no end of its own: the last step says why it was the last.
type parser struct {
	session string
	usage   stream.Usage
}

type streamLine struct {
	Type    string
	Session string `json:"sessionID"`
	Part    struct {
		Text, Tool, Reason string
		Call               string `json:"callID"`
		State              struct {
			Status, Error, Output string
			Input                 json.RawMessage
		}
		Cost   float64
		Tokens struct {
			Input, Output, Reasoning int
			Cache                    struct{ Read, Write int }
		}
	}
	Error struct {
		Name string
		Data struct{ Message string }
	}
}

func (p *parser) End() []stream.Item { return nil }

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	items, ok := p.items(l)
	if id := stream.Kept(l.Session, stream.MaxName); ok && id != "" && id != p.session {
		p.session = id
		items = append([]stream.Item{{Kind: stream.Began, Session: l.Session}}, items...)
	}
	return items, ok
}

func (p *parser) items(l streamLine) ([]stream.Item, bool) {
	switch l.Type {
	case "step_start":
		return nil, true
	case "text":
		return []stream.Item{{Kind: stream.Said, Text: l.Part.Text}}, true
	case "reasoning":
		return []stream.Item{{Kind: stream.Thought, Text: l.Part.Text}}, true
	case "tool_use":
		return l.call(), true
	case "step_finish":
		return p.step(l), true
	case "error":
		text := stream.Or(l.Error.Data.Message, l.Error.Name)
		return []stream.Item{{Kind: stream.Noted, Text: text, Failed: true}, {Kind: stream.Over, Reason: stream.Or(l.Error.Name, "error"), Failed: true}}, true
	}
	return nil, false
}

func (l streamLine) call() []stream.Item {
	s := l.Part.State
	failed := s.Status == "error"
	begun := stream.Call{ID: l.Part.Call, Tool: l.Part.Tool, Input: stream.InputLine(s.Input)}
	ended := begun
	ended.Ended, ended.Failed, ended.Ran = true, failed, true
	return []stream.Item{{Kind: stream.Called, Call: begun}, {Kind: stream.Told, Call: ended, Text: stream.Or(s.Error, s.Output), Failed: failed}}
}

func (p *parser) step(l streamLine) []stream.Item {
	t := l.Part.Tokens
	p.usage.Input += t.Input + t.Cache.Read + t.Cache.Write
	p.usage.Output += t.Output + t.Reasoning
	p.usage.Cached += t.Cache.Read
	p.usage.Cost += l.Part.Cost
	p.usage.Turns++
	list := []stream.Item{{Kind: stream.Used, Usage: p.usage}}
	if l.Part.Reason != "tool-calls" {
		list = append(list, stream.Item{Kind: stream.Over, Reason: l.Part.Reason, Failed: l.Part.Reason != "stop"})
	}
	return list
}
