package stream

import "encoding/json"

// Message is a line of the clients whose stream has a message of the model's protocol on each
// line: a call is a block of an assistant's message, and its end one of a user's. The calls of
// sub-agents are among the others and name the call that they belong to.
type Message struct {
	Type, Subtype string
	Session       string `json:"session_id"`
	Model         string
	Parent        string `json:"parent_tool_use_id"`
	Message       struct {
		ID      string
		Content json.RawMessage
		Usage   struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Write  int `json:"cache_creation_input_tokens"`
		}
	}
	IsError bool `json:"is_error"`  // of a result
	Turns   int  `json:"num_turns"` // of a result
}

// Block is a part of a message.
type Block struct {
	Type, Text, Thinking string
	ID, Name             string
	Input                json.RawMessage
	Result               string `json:"tool_use_id"`
	Content              json.RawMessage
	IsError              bool `json:"is_error"`
}

// Spending adds up what the messages of a stream used. A message of several lines says it in each.
type Spending struct {
	last string // the message that was counted last
	sum  Usage
}

// Add is the item of a message that says what it used, if that is news.
func (s *Spending) Add(m Message) []Item {
	u := m.Message.Usage
	if m.Type != "assistant" || m.Message.ID == "" || m.Message.ID == s.last || u.Input+u.Output+u.Read+u.Write == 0 {
		return nil
	}
	s.last = Kept(m.Message.ID, MaxName)
	s.sum.Input += u.Input + u.Read + u.Write
	s.sum.Output += u.Output
	s.sum.Cached += u.Read
	return []Item{{Kind: Used, Usage: s.sum}}
}

// Began is the item of a session's first line. It is empty for the session that is known: a session begins
// again after each task in the background.
func (m Message) Began(known *string) []Item {
	id := Kept(m.Session, MaxName)
	if m.Subtype != "init" || id == *known {
		return nil
	}
	*known = id
	return []Item{{Kind: Began, Session: m.Session, Model: m.Model}}
}

// Items are those of a message. told makes the item of a call's end, which each client tells in
// its own way.
func (m Message) Items(told func(Block) Item) (list []Item) {
	var blocks []Block
	if !Decode(m.Message.Content, &blocks) {
		return nil // a plain text is what the client says in the user's name
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use":
			list = append(list, Item{Kind: Called, Call: Call{ID: b.ID, Tool: b.Name, Input: InputLine(b.Input)}, Under: m.Parent})
		case b.Type == "tool_result":
			list = append(list, told(b))
		case m.Type == "user":
		case b.Type == "text":
			list = append(list, Item{Kind: Said, Text: b.Text, Under: m.Parent})
		case b.Type == "thinking":
			list = append(list, Item{Kind: Thought, Text: b.Thinking, Under: m.Parent})
		}
	}
	return list
}

// Told is the item of a call's end.
func (m Message) Told(b Block, text string, ran bool) Item {
	call := Call{ID: b.Result, Ended: true, Failed: b.IsError, Ran: ran}
	return Item{Kind: Told, Text: text, Failed: b.IsError, Under: m.Parent, Call: call}
}
