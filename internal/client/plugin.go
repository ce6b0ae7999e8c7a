package client

import (
	_ "embed"
	"fmt"
	"strings"
)

// askText begins every plugin: it asks guards about a call. Whatever goes wrong in it, a call
// is refused: a guard that cannot be started, ends in another way than it should, is killed or
// does not answer.
//
//go:embed ask.js
var askText string

// guard is one program that a plugin asks about a call.
type guard struct {
	Argv    []string `json:"argv"`
	Matcher string   `json:"matcher"` // an expression; "": every tool
	Timeout int      `json:"timeout"` // milliseconds
	Block   bool     `json:"block"`   // a failure is a refusal
}

// guards are those of every tool call, cordon first. Other events are not asked about: a plugin
// reports the start of a session to cordon alone.
func (w Wiring) guards() ([]guard, error) {
	list := []guard{{Argv: w.Argv(), Timeout: 1000 * Patience, Block: true}}
	for _, e := range Merge(w.Extra) {
		if e.Event != "PreToolUse" {
			return nil, fmt.Errorf("it has no event %s", e.Event)
		}
		matcher, err := e.Pattern(w.Client)
		if err != nil {
			return nil, err
		}
		if MatchesAll(matcher) {
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

// CheckGuards says what is wrong with the hooks of a client that is asked by a plugin.
func (w Wiring) CheckGuards() error {
	_, err := w.guards()
	return err
}

// PluginText is the text of a plugin, for clients that have no hooks which run a command. The text of the
// client's own has "guards", "ask" and "matches" at hand, and the variables of Wiring.Shell in the place of
// the mark "/*SHELL*/ {}".
func PluginText(w Wiring, own string) (string, error) {
	if err := w.Check(); err != nil {
		return "", err
	}
	guards, err := w.guards()
	if err != nil {
		return "", fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	variables := make(map[string]string, len(w.Shell))
	for _, v := range w.Shell {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	text := askText + own
	for _, part := range []struct {
		mark  string
		value any
	}{{"/*SHELL*/ {}", variables}, {"/*GUARDS*/ []", guards}} {
		b, err := Compact(part.value)
		if err != nil {
			return "", err
		}
		// JSON is JavaScript, but for two characters that once ended a line there.
		text = strings.Replace(text, part.mark, strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(b)), 1)
	}
	return text, nil
}
