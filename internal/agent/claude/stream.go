package claude

import (
	"strings"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	IDs:    true, Tells: true, Tokens: stream.During, Cost: stream.AtEnd,
}

// parser reads claude -p --output-format stream-json --verbose.
//
// A call is a block of an assistant's message, and its end one of a user's. Beside
// the end stands what the permission check said (tool_result_meta): nothing for a
// call that was wrong before it, "accept" for one that ran, "reject" for one that a
// hook or a rule refused. The calls of sub-agents are among the others and name the
// call that they belong to. There may be several results, since a run goes on when a
// task in the background ends: the usage of the models is of the whole session, the
// turns are those since the result before.
type parser struct {
	session string
	turns   int
	spent   stream.Spending
}

type streamLine struct {
	stream.Message
	Meta []struct {
		ID       string
		Unrun    string                    `json:"non_execution_kind"`
		Decision struct{ Decision string } `json:"permission_decision"`
	} `json:"tool_result_meta"`
	APIError bool `json:"is_api_error_message"`

	// of a result
	Cost     float64 `json:"total_cost_usd"`
	Terminal string  `json:"terminal_reason"`
	Models   map[string]struct {
		InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens int
	} `json:"modelUsage"`
}

func (p *parser) End() []stream.Item { return nil }

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "system":
		return l.Began(&p.session), true
	case "assistant", "user":
		return append(p.spent.Add(l.Message), l.items()...), true
	case "result":
		return p.result(l), true
	case "stream_event", "command_lifecycle", "rate_limit_event", "tool_progress", "auth_status", "keep_alive":
		return nil, true
	}
	return nil, false
}

// items are those of a message. The words of an error of the model's server are no words of the model.
func (l streamLine) items() []stream.Item {
	list := l.Items(l.told)
	for i := range list {
		if l.APIError && list[i].Kind == stream.Said {
			list[i].Kind, list[i].Failed = stream.Noted, true
		}
	}
	return list
}

func (l streamLine) told(b stream.Block) stream.Item {
	text := stream.Words(b.Content)
	return l.Told(b, reasonOf(text), !b.IsError || l.accepted(b.Result, text))
}

// accepted reports whether a call that failed had begun to run. A client that says
// nothing of it says why a call did not run in words of its own.
func (l streamLine) accepted(id, text string) bool {
	for _, m := range l.Meta {
		if m.ID == id {
			return m.Unrun == "" && m.Decision.Decision != "reject"
		}
	}
	return !strings.HasPrefix(text, "<tool_use_error>") && !strings.HasPrefix(text, "PreToolUse:")
}

// reasonOf is an answer without what Claude puts around the reasons of a failure.
func reasonOf(text string) string {
	if _, hook, ok := strings.Cut(text, " hook error: "); ok && strings.HasPrefix(text, "PreToolUse:") {
		if _, why, ok := strings.Cut(hook, "]: "); ok && hook[0] == '[' {
			return why
		}
		return hook
	}
	inner, ok := strings.CutPrefix(text, "<tool_use_error>")
	if ok {
		return strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return text
}

func (p *parser) result(l streamLine) []stream.Item {
	p.turns += l.Turns
	u := stream.Usage{Cost: l.Cost, Turns: p.turns}
	for _, m := range l.Models {
		u.Input += m.InputTokens + m.CacheReadInputTokens + m.CacheCreationInputTokens
		u.Output += m.OutputTokens
		u.Cached += m.CacheReadInputTokens
	}
	return []stream.Item{{Kind: stream.Used, Usage: u}, {Kind: stream.Over, Reason: stream.Or(l.Terminal, l.Subtype), Failed: l.IsError}}
}
