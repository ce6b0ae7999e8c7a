// Package client speaks the hook protocols of agent clients: it turns what a
// client says about a tool call into a Request, a verdict into the answer that
// this client obeys, and a set of hooks into the configuration that it reads.
//
// It is a translation and nothing else. It decides nothing about a call, resolves
// no path, starts nothing and reads no file. What it cannot translate with
// certainty is an error, and an error is a denial: the dialects differ, and an
// answer in the wrong one lets the call through.
//
// What differs between the clients is a Dialect, which lies in the client's own
// folder (internal/agent/NAME). No client is named here.
package client

import "strings"

// Name is one of the clients whose protocol is known.
type Name string

// Dialect is how one client speaks to its hooks.
type Dialect struct {
	Name Name
	Keys Keys
	// Native says that the operator's hooks are written in this client's words, for
	// events and for tools.
	Native bool
	// Events are the operator's word for an event and the client's, for each event that
	// the client has. The operator has no word ("") for one that is of no concern.
	Events [][2]string
	// Tell finds the event where the client does not name it: by the members that are there.
	Tell  func(has func(key string) bool) (Event, error)
	Tools []Tool
	// Family knows tools by how their names begin, beyond mcp__.
	Family func(tool string) (Kind, bool)
	// MCP is what the client calls a tool of a server; nil: mcp__server__tool.
	MCP func(server, tool string) string
	// Refusal is what a refusal has on stdout, where stderr is not passed on to the
	// model, and IsRefusal recognizes it. nil: nothing may be there.
	Refusal   func(text string) []byte
	IsRefusal func(stdout []byte) bool
	// RefusesWithZero says that the client shows its user every other code as a fault of the
	// hook. A refusal then ends with 0; one for which something went wrong still has the
	// code that every client obeys.
	RefusesWithZero bool
	// Say is what is printed for a warning, or a question to the person who sits before the
	// client. nil, or nothing: the client has no word for it that it does not misunderstand.
	Say func(v Verdict) []byte
	// Config renders hooks in the form that the client reads, and Form says in words
	// which that is.
	Form   string
	Config func(w Wiring, hooks Hooks) ([]byte, error)
	// Check is what a wiring must have beyond what every client needs.
	Check func(w Wiring) error
	// Plugin is a file that goes with Config. It may be nil.
	Plugin func(w Wiring) (string, error)
}

// Keys are what a client calls the parts of what it says. Event is empty where the
// client does not say which event it is about.
type Keys struct{ Event, Tool, Input, Session, Call string }

// UsualKeys are those of most clients.
var UsualKeys = Keys{Event: "hook_event_name", Tool: "tool_name", Input: "tool_input", Session: "session_id", Call: "tool_use_id"}

// tool finds what is known about a tool; about one that is not in the tables
// everything is looked for in its input.
func (d *Dialect) tool(name string) *Tool {
	for i := range d.Tools {
		if d.Tools[i].Name == name {
			return &d.Tools[i]
		}
	}
	if strings.HasPrefix(name, "mcp__") {
		return &Tool{Name: name, Kind: MCP}
	}
	if d.Family != nil {
		if kind, ok := d.Family(name); ok {
			return &Tool{Name: name, Kind: kind}
		}
	}
	return &Tool{Name: name, Kind: Unknown}
}
