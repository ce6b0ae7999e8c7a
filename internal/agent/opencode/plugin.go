package opencode

import (
	_ "embed"
	"fmt"
	"strings"

	"cordon/internal/client"
)

// pluginText is the plugin for OpenCode, which has no hooks that run a command.
//
//go:embed plugin.js
var pluginText string

// guard is one program that the plugin asks about a call.
type guard struct {
	Argv    []string `json:"argv"`
	Matcher string   `json:"matcher"` // an expression; "": every tool
	Timeout int      `json:"timeout"` // milliseconds
	Block   bool     `json:"block"`   // a failure is a refusal
}

// guards are those of every tool call, cordon first. Other events are not asked
// about: the plugin reports the start of a session to cordon alone.
func guards(w client.Wiring) ([]guard, error) {
	list := []guard{{Argv: w.Argv(), Timeout: 1000 * client.Patience, Block: true}}
	for _, e := range client.Merge(w.Extra) {
		if e.Event != "PreToolUse" {
			return nil, fmt.Errorf("it has no event %s", e.Event)
		}
		matcher, err := e.Pattern(w.Client)
		if err != nil {
			return nil, err
		}
		if client.MatchesAll(matcher) {
			matcher = ""
		}
		for _, h := range e.Handlers {
			text, err := h.ShellText()
			if err != nil {
				return nil, err
			}
			list = append(list, guard{[]string{"/bin/sh", "-c", text}, matcher, 1000 * h.Limit(), h.OnFailure == "block"})
		}
	}
	return list, nil
}

// plugin is the text of the plugin. Whatever goes wrong in it, a call is refused:
// a guard that cannot be started, ends in another way than it should, is killed or
// does not answer. It never fails while it is loaded, since OpenCode would go on
// without it; what is wrong then is said at the first call.
func plugin(w client.Wiring) (string, error) {
	if err := w.Check(); err != nil {
		return "", err
	}
	guards, err := guards(w)
	if err != nil {
		return "", fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	variables := make(map[string]string, len(w.Shell))
	for _, v := range w.Shell {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	text := pluginText
	for _, part := range []struct {
		mark  string
		value any
	}{{"/*SHELL*/ {}", variables}, {"/*GUARDS*/ []", guards}} {
		b, err := client.Compact(part.value)
		if err != nil {
			return "", err
		}
		// JSON is JavaScript, but for two characters that once ended a line there.
		text = strings.Replace(text, part.mark, strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(b)), 1)
	}
	return text, nil
}
