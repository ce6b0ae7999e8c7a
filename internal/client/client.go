// Package client speaks the hook protocols of the agent clients: it turns what a
// client says about a tool call into a Request, a verdict into the answer that
// this client obeys, and a set of hooks into the configuration that it reads.
//
// It is a translation and nothing else. It decides nothing about a call, resolves
// no path, starts nothing and reads no file. What it cannot translate with
// certainty is an error, and an error is a denial: the dialects differ, and an
// answer in the wrong one lets the call through.
package client

import (
	"fmt"
	"slices"
)

// Name is one of the clients whose protocol is known.
type Name string

// The clients.
const (
	Claude   Name = "claude"
	Codex    Name = "codex"
	Gemini   Name = "gemini"
	Copilot  Name = "copilot"
	OpenCode Name = "opencode"
)

// Names lists the clients.
func Names() []Name { return []Name{Claude, Codex, Gemini, Copilot, OpenCode} }

// Parse is the client of a name.
func Parse(s string) (Name, error) {
	if !slices.Contains(Names(), Name(s)) {
		return "", fmt.Errorf("no client %q is known: there are %v", s, Names())
	}
	return Name(s), nil
}

// dialect is what a client calls the parts of what it says. event is empty where
// the client does not say which event it is about.
type dialect struct {
	event, tool, input, session, call string
}

func (n Name) dialect() dialect {
	switch n {
	case Copilot:
		return dialect{"", "toolName", "toolArgs", "sessionId", "toolCallId"}
	case OpenCode:
		return dialect{"hook_event_name", "tool", "args", "sessionID", "callID"}
	}
	return dialect{"hook_event_name", "tool_name", "tool_input", "session_id", "tool_use_id"}
}
