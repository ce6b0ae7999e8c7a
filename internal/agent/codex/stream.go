package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordon/internal/stream"
)

// form is what was measured of how the stream and the hooks go together. The provider of the model runs
// web_search.
var form = stream.Form{
	Parser: func() stream.Parser { return &parser{} },
	Tokens: stream.AtEnd, Tells: true, Hidden: []string{"spawn_agent"}, Unhooked: []string{"web_search"}, Also: also,
}

// parser reads codex exec --json.
//
// A call is there only once it has been let through and begins: what a hook refuses,
// what has no such tool and what has a wrong input is never in the stream, and
// neither are the calls of sub-agents. What has begun ran, even if its end is never
// told, as with a command that is still running when the turn ends. Its IDs are not
// those that the hooks are told.
type parser struct {
	turns int
}

type streamLine struct {
	Type    string
	Thread  string `json:"thread_id"`
	Item    streamItem
	Message string
	Error   struct{ Message string }
	Usage   struct {
		Input  int `json:"input_tokens"`
		Cached int `json:"cached_input_tokens"`
		Output int `json:"output_tokens"`
	}
}

type streamItem struct {
	ID, Type, Status    string
	Text, Message       string
	Command             string
	Output              string `json:"aggregated_output"`
	Exit                int    `json:"exit_code"`
	Changes             []struct{ Path, Kind string }
	Server, Tool, Query string
	Arguments           json.RawMessage
	Prompt              string
	Result              struct{ Content json.RawMessage }
	Error               struct{ Message string }
}

func (p *parser) End() []stream.Item { return nil }

func (p *parser) Line(b []byte) ([]stream.Item, bool) {
	var l streamLine
	if !stream.Decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "thread.started":
		return []stream.Item{{Kind: stream.Began, Session: l.Thread}}, true
	case "turn.started", "item.updated":
		return nil, true
	case "item.started":
		return l.Item.begun()
	case "item.completed":
		return l.Item.done()
	case "turn.completed":
		p.turns++
		u := stream.Usage{Input: l.Usage.Input, Cached: l.Usage.Cached, Output: l.Usage.Output, Turns: p.turns}
		return []stream.Item{{Kind: stream.Used, Usage: u}, {Kind: stream.Over, Reason: "completed"}}, true
	case "turn.failed":
		return []stream.Item{{Kind: stream.Over, Reason: stream.OneLine(stream.Or(stream.Reason(l.Error.Message), "failed"), stream.MaxInput), Failed: true}}, true
	case "error":
		return []stream.Item{{Kind: stream.Noted, Text: stream.Reason(l.Message), Failed: true}}, true
	}
	return nil, false
}

// call is the call that an item is, if it is one.
func (i streamItem) call() (stream.Call, bool) {
	c := stream.Call{ID: i.ID, Ran: i.Status != "declined"}
	switch i.Type {
	case "command_execution":
		c.Tool, c.Input = "Bash", stream.OneLine(unwrapped(i.Command), stream.MaxInput)
	case "file_change":
		c.Tool, c.Input = "apply_patch", stream.OneLine(i.changed(), stream.MaxInput)
	case "mcp_tool_call":
		c.Tool, c.Input = "mcp__"+i.Server+"__"+i.Tool, stream.InputLine(i.Arguments)
	case "collab_tool_call":
		c.Tool, c.Input = i.Tool, stream.OneLine(i.Prompt, stream.MaxInput)
	case "web_search":
		c.Tool, c.Input = "web_search", stream.OneLine(i.Query, stream.MaxInput)
	default:
		return stream.Call{}, false
	}
	return c, true
}

func (i streamItem) begun() ([]stream.Item, bool) {
	if c, ok := i.call(); ok {
		return []stream.Item{{Kind: stream.Called, Call: c}}, true
	}
	return nil, plainItems[i.Type]
}

func (i streamItem) done() ([]stream.Item, bool) {
	if c, ok := i.call(); ok {
		c.Ended, c.Failed = true, i.Status == "failed" || i.Status == "declined"
		return []stream.Item{{Kind: stream.Told, Call: c, Text: i.answer(), Failed: c.Failed}}, true
	}
	switch i.Type {
	case "agent_message":
		return []stream.Item{{Kind: stream.Said, Text: i.Text}}, true
	case "reasoning":
		return []stream.Item{{Kind: stream.Thought, Text: i.Text}}, true
	case "error":
		return []stream.Item{{Kind: stream.Noted, Text: i.Message}}, true
	}
	return nil, plainItems[i.Type]
}

// answer is what came of a call.
func (i streamItem) answer() string {
	text := stream.Or(i.Output, stream.Or(i.Error.Message, stream.Words(i.Result.Content)))
	if i.Exit > 0 {
		return fmt.Sprintf("Exit code %d\n%s", i.Exit, text)
	}
	return text
}

// plainItems are the items that are no calls. Its list of steps (update_plan) is one:
// nothing happens when it is written.
var plainItems = map[string]bool{"agent_message": true, "reasoning": true, "error": true, "todo_list": true}

func (i streamItem) changed() string {
	var list []string
	for _, c := range i.Changes {
		list = append(list, c.Kind+" "+c.Path)
	}
	return strings.Join(list, ", ")
}

// unwrapped is a command without the shell that Codex puts around it.
func unwrapped(command string) string {
	shell, text, ok := strings.Cut(command, " -lc ")
	if !ok || !strings.HasSuffix(shell, "sh") || strings.Contains(shell, " ") {
		return command
	}
	if n := len(text); n > 1 && text[0] == '\'' && text[n-1] == '\'' && strings.Count(text, "'") == 2 {
		return text[1 : n-1]
	}
	return text
}

// also knows that a patch may be the text of a shell command, which Codex takes
// out of it after the hook was asked; and that most of the tools that go with
// sub-agents have their namespace before their name.
func also(tool string) []string {
	switch tool {
	case "apply_patch":
		return []string{"Bash"}
	case "spawn_agent", "send_input", "resume_agent", "close_agent", "wait", "wait_agent":
		name := strings.TrimSuffix(tool, "_agent")
		return []string{"multi_agent_v1" + tool, "multi_agent_v1" + name + "_agent", name + "_agent"}
	}
	return nil
}
