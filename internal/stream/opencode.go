package stream

import "encoding/json"

// openCodeParser reads opencode run --format json.
//
// A call is told once, when it has ended; those of sub-agents are not told. The hook
// is asked about every call, those of tools that do not exist among them ("invalid"),
// and it is told the ID that is here. An error does not say whether the call ran. The
// stream has no end of its own: the last step says why it was the last.
type openCodeParser struct {
	session string
	usage   Usage
}

type openCodeLine struct {
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

func (p *openCodeParser) end() []Item { return nil }

func (p *openCodeParser) line(b []byte) ([]Item, bool) {
	var l openCodeLine
	if !decode(b, &l) {
		return nil, false
	}
	items, ok := p.items(l)
	if id := kept(l.Session, maxName); ok && id != "" && id != p.session {
		p.session = id
		items = append([]Item{{Kind: Began, Session: l.Session}}, items...)
	}
	return items, ok
}

func (p *openCodeParser) items(l openCodeLine) ([]Item, bool) {
	switch l.Type {
	case "step_start":
		return nil, true
	case "text":
		return []Item{{Kind: Said, Text: l.Part.Text}}, true
	case "reasoning":
		return []Item{{Kind: Thought, Text: l.Part.Text}}, true
	case "tool_use":
		return l.call(), true
	case "step_finish":
		return p.step(l), true
	case "error":
		text := or(l.Error.Data.Message, l.Error.Name)
		return []Item{{Kind: Noted, Text: text, Failed: true}, {Kind: Over, Reason: or(l.Error.Name, "error"), Failed: true}}, true
	}
	return nil, false
}

func (l openCodeLine) call() []Item {
	s := l.Part.State
	failed := s.Status == "error"
	begun := Call{ID: l.Part.Call, Tool: l.Part.Tool, Input: inputLine(s.Input)}
	ended := begun
	ended.Ended, ended.Failed, ended.Ran = true, failed, true
	return []Item{{Kind: Called, Call: begun}, {Kind: Told, Call: ended, Text: or(s.Error, s.Output), Failed: failed}}
}

func (p *openCodeParser) step(l openCodeLine) []Item {
	t := l.Part.Tokens
	p.usage.Input += t.Input + t.Cache.Read + t.Cache.Write
	p.usage.Output += t.Output + t.Reasoning
	p.usage.Cached += t.Cache.Read
	p.usage.Cost += l.Part.Cost
	p.usage.Turns++
	list := []Item{{Kind: Used, Usage: p.usage}}
	if l.Part.Reason != "tool-calls" {
		list = append(list, Item{Kind: Over, Reason: l.Part.Reason, Failed: l.Part.Reason != "stop"})
	}
	return list
}
