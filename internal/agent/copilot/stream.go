package copilot

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together. The client calls read_bash by itself, to see what a command has
// printed since, and read_agent when a sub-agent in the background ends.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tells:  true, Unhooked: []string{"read_bash"}, Own: []string{"read_agent"},
}

// parser reads copilot --output-format json.
//
// A call begins before its hook is asked, and the hook is asked about every call, of
// tools that do not exist too. The calls of sub-agents are among the others. Hooks
// are told no IDs. It does not say what tokens were used.
type parser struct {
	model string
	usage stream.Usage
}

type streamLine struct {
	Type    string
	Session string `json:"sessionId"`
	Agent   string `json:"agentId"`
	Exit    int    `json:"exitCode"`
	Data    struct {
		Model, Content, Message string
		Call                    string `json:"toolCallId"`
		Tool                    string `json:"toolName"`
		Turn                    string `json:"turnId"`
		Arguments               json.RawMessage
		Parent                  string `json:"parentToolCallId"`
		Success                 bool
		Error                   struct{ Message, Code string }
		Result                  struct{ Content string }
	}
}

func (p *parser) End() []stream.Item { return nil }

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
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
		return l.said(stream.Said), true
	case "assistant.reasoning":
		return l.said(stream.Thought), true
	case "tool.execution_start":
		// A call of a model's, also of a sub-agent's, has the turn and the model.
		own := l.Data.Turn == "" && l.Data.Model == "" && l.Data.Parent == "" && l.Agent == ""
		c := stream.Call{ID: l.Data.Call, Tool: l.Data.Tool, Input: stream.InputLine(l.Data.Arguments), Own: own}
		return []stream.Item{{Kind: stream.Called, Call: c, Under: l.Data.Parent}}, true
	case "tool.execution_complete":
		return []stream.Item{l.told()}, true
	case "session.error":
		return []stream.Item{{Kind: stream.Noted, Text: l.Data.Message, Failed: true}}, true
	case "result":
		over := stream.Item{Kind: stream.Over, Reason: fmt.Sprintf("exit code %d", l.Exit), Failed: l.Exit != 0}
		return []stream.Item{{Kind: stream.Began, Session: l.Session}, {Kind: stream.Used, Usage: p.usage}, over}, true
	}
	return nil, isAside(l.Type)
}

// isAside knows the families of what is no news to anybody.
func isAside(kind string) bool {
	family, _, ok := strings.Cut(kind, ".")
	switch family {
	case "session", "assistant", "tool", "user", "model", "subagent", "hook", "permission", "system", "skill":
		return ok
	}
	return false
}

func (p *parser) began(l streamLine) []stream.Item {
	model := stream.Kept(l.Data.Model, stream.MaxName)
	if l.Agent != "" || model == p.model {
		return nil
	}
	p.model = model
	return []stream.Item{{Kind: stream.Began, Model: p.model}}
}

func (l streamLine) said(k stream.Kind) []stream.Item {
	if l.Data.Content == "" {
		return nil
	}
	return []stream.Item{{Kind: k, Text: l.Data.Content, Under: l.Data.Parent}}
}

func (l streamLine) told() stream.Item {
	failed := !l.Data.Success
	c := stream.Call{ID: l.Data.Call, Ended: true, Failed: failed, Ran: !failed || l.Data.Error.Code != "denied"}
	return stream.Item{Kind: stream.Told, Call: c, Text: stream.Or(l.Data.Error.Message, l.Data.Result.Content), Failed: failed, Under: l.Data.Parent}
}
