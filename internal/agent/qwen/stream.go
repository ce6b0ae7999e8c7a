package qwen

import (
	"regexp"
	"strings"
	"sync"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tokens: stream.AtEnd,
	IDs:    true, Early: []string{
		"write_file", "edit", "notebook_edit", "read_file", "zoom_image", "list_directory", "glob", "grep_search", "lsp", "web_fetch", "web_search",
		"agent", "skill", "todo_write", "tool_search",
	},
}

// parser reads qwen --output-format stream-json.
//
// Its lines are messages. Hooks are told the IDs that are here. A call that failed does not say
// whether it ran: the client's words for those that no hook is asked about are known.
type parser struct{ session string }

type streamLine struct {
	stream.Message

	// of a result
	Error struct{ Message string }
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Cached int `json:"cache_read_input_tokens"`
	}
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
		return l.Items(l.told), true
	case "result":
		return l.result(), true
	case "stream_event", "tool_progress":
		return nil, true
	}
	return nil, false
}

func (l streamLine) told(b stream.Block) stream.Item {
	text := stream.Words(b.Content)
	return l.Told(b, text, !b.IsError || !unrun(text))
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
