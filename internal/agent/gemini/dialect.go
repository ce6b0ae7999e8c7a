// Package gemini is what cordon knows about the Gemini CLI: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/client"
)

// dialect is the hook protocol of the Gemini CLI.
var dialect = client.Dialect{
	Form: "system settings",
	Name: "gemini", Keys: client.UsualKeys, Tools: tools, Family: family, MCP: mcpName, Config: hookSettings, Check: checkLabel,
	Refusal: refusal, IsRefusal: isRefusal, RefusesWithZero: true,
	Events: [][2]string{
		{"PreToolUse", "BeforeTool"},
		{"PostToolUse", "AfterTool"},
		{"SessionStart", "SessionStart"},
		{"SessionEnd", "SessionEnd"},
		{"UserPromptSubmit", "BeforeAgent"},
		{"Stop", "AfterAgent"},
		{"PreCompact", "PreCompress"},
		{"Notification", "Notification"},
		{"", "BeforeModel"},
		{"", "AfterModel"},
		{"", "BeforeToolSelection"},
	},
}

// refusal is a refusal in the client's words. Of a hook that ends with another code than 0 it
// tells its user that it failed.
func refusal(text string) []byte {
	b, err := client.Compact(client.Object{{"decision", "deny"}, {"reason", text}})
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

func isRefusal(stdout []byte) bool {
	return bytes.HasPrefix(stdout, []byte(`{"decision":"deny","reason":"`))
}

func family(tool string) (client.Kind, bool) { return client.MCP, strings.HasPrefix(tool, "mcp_") }

func mcpName(server, tool string) string { return "mcp_" + server + "_" + tool }

func checkLabel(w client.Wiring) error {
	if !client.Unguessed(w.Label) {
		return errors.New("the name of the hook must have sixteen letters and digits or more, so that nobody guesses it")
	}
	return nil
}

// hookSettings is for the system settings. Every hook has a name that cannot be
// guessed: a project may list the names of hooks that are not to run.
func hookSettings(w client.Wiring, hooks client.Hooks) ([]byte, error) {
	const second = 1000
	rendered, err := client.NamedHooks(w, hooks, second, checkMatcher)
	if err != nil {
		return nil, err
	}
	return client.Compact(client.Object{{"hooksConfig", client.Object{{"enabled", true}}}, {"hooks", rendered}})
}

func checkMatcher(e client.Entry, word, matcher string) error {
	if !client.MatchesAll(matcher) && !e.OfTools() {
		return fmt.Errorf("it compares what an event %s is about with a matcher letter by letter, and %q is more than that", word, e.Matcher)
	}
	return nil
}
