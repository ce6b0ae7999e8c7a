package client

import (
	"reflect"
	"slices"
)

// Hooks is a set of hooks, written in the words of Claude Code's settings: the clients
// differ in what they call an event and agree in what one is.
type Hooks []Entry

// Entry is what runs on one event, for the tools that a matcher matches.
type Entry struct {
	Event    string // a word of events
	Matcher  string // "" and "*": all
	Handlers []Handler
}

// Handler is one thing that runs. The fields are those of the same settings.
type Handler struct {
	Type          string            `json:"type"`
	Command       string            `json:"command,omitempty"`
	Args          *[]string         `json:"args,omitempty"` // there, even if empty: no shell
	URL           string            `json:"url,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Allowed       []string          `json:"allowedEnvVars,omitempty"`
	Server        string            `json:"server,omitempty"`
	Tool          string            `json:"tool,omitempty"`
	Input         map[string]any    `json:"input,omitempty"`
	Prompt        string            `json:"prompt,omitempty"`
	Model         string            `json:"model,omitempty"`
	If            string            `json:"if,omitempty"`
	Shell         string            `json:"shell,omitempty"`
	Timeout       int               `json:"timeout,omitempty"` // seconds
	OnFailure     string            `json:"onFailure,omitempty"`
	StatusMessage string            `json:"statusMessage,omitempty"`
	Once          bool              `json:"once,omitempty"`
	Async         bool              `json:"async,omitempty"`
	AsyncRewake   bool              `json:"asyncRewake,omitempty"`
	Continue      bool              `json:"continueOnBlock,omitempty"`
}

// MatchesAll reports whether a matcher matches every tool.
func MatchesAll(matcher string) bool { return matcher == "" || matcher == "*" }

// Merge makes one set of several, the first ones first. Handlers of one event and
// matcher come together; what is there twice is kept once; nothing is dropped and
// nothing is changed, so that each handler can refuse a call as it could alone.
func Merge(configs ...Hooks) Hooks {
	var merged Hooks
	for _, hooks := range configs {
		for _, e := range hooks {
			i := slices.IndexFunc(merged, func(m Entry) bool { return m.Event == e.Event && same(m.Matcher, e.Matcher) })
			if i < 0 {
				merged = append(merged, Entry{Event: e.Event, Matcher: e.Matcher})
				i = len(merged) - 1
			}
			for _, h := range e.Handlers {
				if !slices.ContainsFunc(merged[i].Handlers, func(have Handler) bool { return reflect.DeepEqual(have, h) }) {
					merged[i].Handlers = append(merged[i].Handlers, h)
				}
			}
		}
	}
	return slices.DeleteFunc(merged, func(e Entry) bool { return len(e.Handlers) == 0 })
}

func same(a, b string) bool { return a == b || MatchesAll(a) && MatchesAll(b) }
