// Package copilot is what cordon knows about the Copilot CLI: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package copilot

import (
	"bytes"
	"errors"
	"fmt"

	"cordon/internal/client"
)

// dialect is the hook protocol of the Copilot CLI.
var dialect = client.Dialect{
	Form:  "the hooks.json of a plugin",
	Name:  "copilot",
	Keys:  client.Keys{Tool: "toolName", Input: "toolArgs", Session: "sessionId", Call: "toolCallId"},
	Tools: tools, Tell: event, Refusal: refusal, IsRefusal: isRefusal, Config: hooksFile,
	Events: [][2]string{
		{"PreToolUse", "preToolUse"},
		{"PostToolUse", "postToolUse"},
		{"SessionStart", "sessionStart"},
		{"SessionEnd", "sessionEnd"},
		{"UserPromptSubmit", "userPromptSubmitted"},
	},
}

// event tells by the parts that are there: this client does not name it.
func event(has func(key string) bool) (client.Event, error) {
	switch {
	case has("toolName") && has("toolResult"):
		return client.PostTool, nil
	case has("toolName"):
		return client.PreTool, nil
	case has("source") || has("initialPrompt"):
		return client.SessionStart, nil
	case has("reason"):
		return client.SessionEnd, nil
	case has("prompt"):
		return client.Prompt, nil
	}
	return "", errors.New("copilot reports neither a known tool nor a known event")
}

// refusal is what Copilot shows its model: to it the code alone refuses, and what is on
// stderr is not passed on.
func refusal(text string) []byte {
	b, err := client.Compact(client.Object{{"permissionDecision", "deny"}, {"permissionDecisionReason", text}})
	if err != nil {
		return nil // it refuses all the same
	}
	return append(b, '\n')
}

func isRefusal(stdout []byte) bool {
	return bytes.HasPrefix(stdout, []byte(`{"permissionDecision":"deny",`))
}

// hooksFile is the hooks.json of a plugin. Its hooks see every tool.
func hooksFile(w client.Wiring, hooks client.Hooks) ([]byte, error) {
	var rendered client.Object
	for _, e := range hooks {
		word, err := e.Word(w.Client)
		if err != nil {
			return nil, err
		}
		if !client.MatchesAll(e.Matcher) {
			return nil, fmt.Errorf("it runs a hook for every tool, and not for those that match %q", e.Matcher)
		}
		for _, h := range e.Handlers {
			text, err := h.ShellText()
			if err != nil {
				return nil, err
			}
			rendered.Add(word, client.Object{{"type", "command"}, {"bash", text}, {"timeoutSec", h.Limit()}})
		}
	}
	return client.Compact(client.Object{{"version", 1}, {"hooks", rendered}})
}
