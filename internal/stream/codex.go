package stream

import (
	"encoding/json"
	"fmt"
	"strings"
)

// codexParser reads codex exec --json.
//
// A call is there only once it has been let through and begins: what a hook refuses,
// what has no such tool and what has a wrong input is never in the stream, and
// neither are the calls of sub-agents. What has begun ran, even if its end is never
// told, as with a command that is still running when the turn ends. Its IDs are not
// those that the hooks are told.
type codexParser struct {
	turns int
}

type codexLine struct {
	Type    string
	Thread  string `json:"thread_id"`
	Item    codexItem
	Message string
	Error   struct{ Message string }
	Usage   struct {
		Input  int `json:"input_tokens"`
		Cached int `json:"cached_input_tokens"`
		Output int `json:"output_tokens"`
	}
}

type codexItem struct {
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

func (p *codexParser) end() []Item { return nil }

func (p *codexParser) line(b []byte) ([]Item, bool) {
	var l codexLine
	if !decode(b, &l) {
		return nil, false
	}
	switch l.Type {
	case "thread.started":
		return []Item{{Kind: Began, Session: l.Thread}}, true
	case "turn.started", "item.updated":
		return nil, true
	case "item.started":
		return l.Item.begun()
	case "item.completed":
		return l.Item.done()
	case "turn.completed":
		p.turns++
		u := Usage{Input: l.Usage.Input, Cached: l.Usage.Cached, Output: l.Usage.Output, Turns: p.turns}
		return []Item{{Kind: Used, Usage: u}, {Kind: Over, Reason: "completed"}}, true
	case "turn.failed":
		return []Item{{Kind: Over, Reason: oneLine(or(reason(l.Error.Message), "failed"), maxInput), Failed: true}}, true
	case "error":
		return []Item{{Kind: Noted, Text: reason(l.Message), Failed: true}}, true
	}
	return nil, false
}

// call is the call that an item is, if it is one.
func (i codexItem) call() (Call, bool) {
	c := Call{ID: i.ID, Ran: i.Status != "declined"}
	switch i.Type {
	case "command_execution":
		c.Tool, c.Input = "Bash", oneLine(unwrapped(i.Command), maxInput)
	case "file_change":
		c.Tool, c.Input = "apply_patch", oneLine(i.changed(), maxInput)
	case "mcp_tool_call":
		c.Tool, c.Input = "mcp__"+i.Server+"__"+i.Tool, inputLine(i.Arguments)
	case "collab_tool_call":
		c.Tool, c.Input = i.Tool, oneLine(i.Prompt, maxInput)
	case "web_search":
		c.Tool, c.Input = "web_search", oneLine(i.Query, maxInput)
	default:
		return Call{}, false
	}
	return c, true
}

func (i codexItem) begun() ([]Item, bool) {
	if c, ok := i.call(); ok {
		return []Item{{Kind: Called, Call: c}}, true
	}
	return nil, codexWords[i.Type]
}

func (i codexItem) done() ([]Item, bool) {
	if c, ok := i.call(); ok {
		c.Ended, c.Failed = true, i.Status == "failed" || i.Status == "declined"
		return []Item{{Kind: Told, Call: c, Text: i.answer(), Failed: c.Failed}}, true
	}
	switch i.Type {
	case "agent_message":
		return []Item{{Kind: Said, Text: i.Text}}, true
	case "reasoning":
		return []Item{{Kind: Thought, Text: i.Text}}, true
	case "error":
		return []Item{{Kind: Noted, Text: i.Message}}, true
	}
	return nil, codexWords[i.Type]
}

// answer is what came of a call.
func (i codexItem) answer() string {
	text := or(i.Output, or(i.Error.Message, words(i.Result.Content)))
	if i.Exit > 0 {
		return fmt.Sprintf("Exit code %d\n%s", i.Exit, text)
	}
	return text
}

// codexWords are the items that are no calls. Its list of steps (update_plan) is one:
// nothing happens when it is written.
var codexWords = map[string]bool{"agent_message": true, "reasoning": true, "error": true, "todo_list": true}

func (i codexItem) changed() string {
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
