package stream

import (
	"encoding/json"
	"fmt"
	"strings"
)

// copilotParser reads copilot --output-format json.
//
// A call begins before its hook is asked, and the hook is asked about every call, of
// tools that do not exist too. The calls of sub-agents are among the others. Hooks
// are told no IDs. It does not say what tokens were used.
type copilotParser struct {
	model string
	usage Usage
}

type copilotLine struct {
	Type    string
	Session string `json:"sessionId"`
	Agent   string `json:"agentId"`
	Exit    int    `json:"exitCode"`
	Data    struct {
		Model, Content, Message string
		Call                    string `json:"toolCallId"`
		Tool                    string `json:"toolName"`
		Arguments               json.RawMessage
		Parent                  string `json:"parentToolCallId"`
		Success                 bool
		Error                   struct{ Message, Code string }
		Result                  struct{ Content string }
	}
}

func (p *copilotParser) end() []Item { return nil }

func (p *copilotParser) line(b []byte) ([]Item, bool) {
	var l copilotLine
	if !decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "session.tools_updated":
		return p.began(l), true
	case "assistant.turn_start":
		if l.Agent == "" {
			p.usage.Turns++
		}
		return nil, true
	case "assistant.message":
		return l.said(Said), true
	case "assistant.reasoning":
		return l.said(Thought), true
	case "tool.execution_start":
		c := Call{ID: l.Data.Call, Tool: l.Data.Tool, Input: inputLine(l.Data.Arguments)}
		return []Item{{Kind: Called, Call: c, Under: l.Data.Parent}}, true
	case "tool.execution_complete":
		return []Item{l.told()}, true
	case "session.error":
		return []Item{{Kind: Noted, Text: l.Data.Message, Failed: true}}, true
	case "result":
		over := Item{Kind: Over, Reason: fmt.Sprintf("exit code %d", l.Exit), Failed: l.Exit != 0}
		return []Item{{Kind: Began, Session: l.Session}, {Kind: Used, Usage: p.usage}, over}, true
	}
	return nil, copilotAside(l.Type)
}

// copilotAside knows the families of what is no news to anybody.
func copilotAside(kind string) bool {
	family, _, ok := strings.Cut(kind, ".")
	switch family {
	case "session", "assistant", "tool", "user", "model", "subagent", "hook", "permission", "system", "skill":
		return ok
	}
	return false
}

func (p *copilotParser) began(l copilotLine) []Item {
	model := kept(l.Data.Model, maxName)
	if l.Agent != "" || model == p.model {
		return nil
	}
	p.model = model
	return []Item{{Kind: Began, Model: p.model}}
}

func (l copilotLine) said(k Kind) []Item {
	if l.Data.Content == "" {
		return nil
	}
	return []Item{{Kind: k, Text: l.Data.Content, Under: l.Data.Parent}}
}

func (l copilotLine) told() Item {
	failed := !l.Data.Success
	c := Call{ID: l.Data.Call, Ended: true, Failed: failed, Ran: !failed || l.Data.Error.Code != "denied"}
	return Item{Kind: Told, Call: c, Text: or(l.Data.Error.Message, l.Data.Result.Content), Failed: failed, Under: l.Data.Parent}
}
